package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"
)

func sampleCommits() []Commit {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	return []Commit{
		{Revision: 1, Nonce: math.MaxUint64, At: at},
		{Revision: 2, Nonce: 7, At: at.Add(time.Nanosecond), Reset: true, Facts: []Fact{
			{Key: Key{Kind: 1, ID: 12, Sub: 3}, Value: []byte("a task")},
			{Key: Key{Kind: 255, ID: math.MinInt64, Sub: math.MaxInt64}, Gone: true},
			{Key: Key{Kind: 2, ID: -1}, Expires: at.Add(24 * time.Hour)},
			{Key: Key{Kind: 2, ID: -2}, Gone: true, Expires: time.Unix(-5, 999_999_999).UTC()},
			{Key: Key{Kind: 1, ID: 12, Sub: 3}, Past: true, Value: []byte("an event")},
			{Key: Key{Kind: 9}, Past: true},
		}},
		{Revision: math.MaxInt64, At: time.Time{}, Facts: []Fact{{Value: bytes.Repeat([]byte("x"), 70_000)}}},
	}
}

func TestEncodeCommits_roundTrip(t *testing.T) {
	for _, tt := range []struct {
		name    string
		commits []Commit
	}{
		{"none", []Commit{}},
		{"zero", []Commit{{}}},
		{"sample", sampleCommits()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := EncodeCommits([]byte("prefix"), tt.commits)[len("prefix"):]
			if got := EncodedSize(tt.commits); got != len(b) {
				t.Errorf("EncodedSize is %d, the bytes are %d", got, len(b))
			}
			got, err := DecodeCommits(b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.commits) {
				t.Errorf("got %+v, want %+v", got, tt.commits)
			}
		})
	}
}

func TestDecodeCommits_valuesCannotGrowIntoEachOther(t *testing.T) {
	b := EncodeCommits(nil, []Commit{{Facts: []Fact{{Value: []byte("one")}, {Value: []byte("two")}}}})
	got, err := DecodeCommits(b)
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got[0].Facts[0].Value, "XXXXXXXX"...)
	if v := string(got[0].Facts[1].Value); v != "two" {
		t.Errorf("the neighbour became %q", v)
	}
}

func TestDecodeCommits_refusesEveryFlippedBitAndEveryCut(t *testing.T) {
	commits := sampleCommits()[:2]
	whole := EncodeCommits(nil, commits)
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if _, err := DecodeCommits(b); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d of byte %d flipped: %v", bit, i, err)
			}
		}
		if _, err := DecodeCommits(whole[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, err := DecodeCommits(append(bytes.Clone(whole), 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a byte more: %v", err)
	}
}

func TestDecodeCommits_countsDoNotAllocate(t *testing.T) {
	for _, body := range [][]byte{
		binary.AppendUvarint(nil, math.MaxUint64),
		binary.AppendUvarint(nil, 1<<40),
		append([]byte{1}, binary.AppendUvarint(nil, math.MaxUint64)...),
	} {
		b := sealed(body)
		if n := testing.AllocsPerRun(10, func() { _, _ = DecodeCommits(b) }); n > 20 {
			t.Errorf("%x: %v allocations", body, n)
		}
		if _, err := DecodeCommits(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v", body, err)
		}
	}
}

// sealed makes body decodable as far as version and checksum go.
func sealed(body []byte) []byte {
	b := append([]byte{encodeVersion, 0, 0, 0, 0}, body...)
	binary.LittleEndian.PutUint32(b[1:], Checksum(body))
	return b
}

func FuzzDecodeCommits(f *testing.F) {
	f.Add([]byte(nil))
	for n := range len(sampleCommits()) + 1 {
		b := EncodeCommits(nil, sampleCommits()[:n])
		f.Add(b)
		f.Add(b[encodeHeader:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		// As it is, and past the checksum, which a fuzzer does not guess.
		for _, in := range [][]byte{b, sealed(b)} {
			commits, err := DecodeCommits(in)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("%v does not wrap ErrCorrupt", err)
				}
				continue
			}
			if again := EncodeCommits(nil, commits); !bytes.Equal(again, in) {
				t.Fatalf("%x was read and is written as %x", in, again)
			}
			if got := EncodedSize(commits); got != len(in) {
				t.Fatalf("EncodedSize is %d for %d bytes", got, len(in))
			}
		}
	})
}

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// ErrCorrupt: bytes are not what EncodeCommits wrote.
var ErrCorrupt = errors.New("store: the bytes are damaged")

// The binary form of commits. All numbers are varints in their shortest form,
// so that equal commits have equal bytes and a decoder accepts one form only:
//
//	version (1) | CRC-32C of the rest (4, little endian) | count | commit…
//	commit: length of the body | body
//	body:   revision | nonce (8) | time | flags (1) | number of facts | fact…
//	fact:   flags (1) | kind (1) | id | sub | [expires] | [length | value]
//	time:   seconds since 1970 | nanoseconds
//
// A commit has its length in front, so that a later version can add fields
// behind the facts and readers can skip.
const (
	encodeVersion = 1
	encodeHeader  = 5

	flagReset   = 1 << 0 // of a commit
	flagGone    = 1 << 0 // of a fact: no value follows
	flagExpires = 1 << 1 // of a fact: a time follows
	flagPast    = 1 << 2 // of a fact, alone: it is for history only

	// The least a commit and a fact take. They bound what a decoder allocates
	// by the bytes it was given, whatever count those claim.
	minCommit = 1 + 1 + 8 + 2 + 1 + 1
	minFact   = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C that engines guard their rows with, over all parts
// as if they were one.
func Checksum(parts ...[]byte) uint32 {
	var sum uint32
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli, p)
	}
	return sum
}

// EncodeCommits appends the binary form of commits to dst and returns it. It
// keeps nothing of commits. Times lose their location, nothing else; the value
// of a fact that is Gone is not written. The facts must be such as Check allows,
// or DecodeCommits refuses the bytes.
func EncodeCommits(dst []byte, commits []Commit) []byte {
	start := len(dst)
	dst = append(dst, encodeVersion, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, uint64(len(commits)))
	for i := range commits {
		dst = binary.AppendUvarint(dst, uint64(commitSize(&commits[i])))
		dst = appendCommit(dst, &commits[i])
	}
	sum := Checksum(dst[start+encodeHeader:])
	binary.LittleEndian.PutUint32(dst[start+1:], sum)
	return dst
}

func appendCommit(dst []byte, c *Commit) []byte {
	dst = binary.AppendVarint(dst, c.Revision)
	dst = binary.LittleEndian.AppendUint64(dst, c.Nonce)
	dst = appendTime(dst, c.At)
	var flags byte
	if c.Reset {
		flags |= flagReset
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(len(c.Facts)))
	for i := range c.Facts {
		dst = appendFact(dst, &c.Facts[i])
	}
	return dst
}

func appendFact(dst []byte, f *Fact) []byte {
	var flags byte
	if f.Gone {
		flags |= flagGone
	}
	if !f.Expires.IsZero() {
		flags |= flagExpires
	}
	if f.Past {
		flags |= flagPast
	}
	dst = append(dst, flags, f.Key.Kind)
	dst = binary.AppendVarint(dst, f.Key.ID)
	dst = binary.AppendVarint(dst, f.Key.Sub)
	if flags&flagExpires != 0 {
		dst = appendTime(dst, f.Expires)
	}
	if f.Gone {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Value)))
	return append(dst, f.Value...)
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = binary.AppendVarint(dst, t.Unix())
	return binary.AppendUvarint(dst, uint64(t.Nanosecond()))
}

// EncodedSize is the number of bytes EncodeCommits appends for commits.
func EncodedSize(commits []Commit) int {
	n := encodeHeader + uvarintSize(uint64(len(commits)))
	for i := range commits {
		size := commitSize(&commits[i])
		n += uvarintSize(uint64(size)) + size
	}
	return n
}

func commitSize(c *Commit) int {
	n := varintSize(c.Revision) + 8 + timeSize(c.At) + 1 + uvarintSize(uint64(len(c.Facts)))
	for i := range c.Facts {
		f := &c.Facts[i]
		n += 2 + varintSize(f.Key.ID) + varintSize(f.Key.Sub)
		if !f.Expires.IsZero() {
			n += timeSize(f.Expires)
		}
		if !f.Gone {
			n += uvarintSize(uint64(len(f.Value))) + len(f.Value)
		}
	}
	return n
}

func timeSize(t time.Time) int {
	return varintSize(t.Unix()) + uvarintSize(uint64(t.Nanosecond()))
}

func varintSize(v int64) int { return uvarintSize(uint64(v)<<1 ^ uint64(v>>63)) }

func uvarintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// DecodeCommits reads what EncodeCommits wrote. Everything else, also bytes
// left over, is refused with an error that wraps ErrCorrupt. It never panics,
// and allocates in proportion to len(b). The values of the commits are slices
// of b, each capped at its own end; the times are UTC; an empty value is nil.
func DecodeCommits(b []byte) ([]Commit, error) {
	if len(b) < encodeHeader {
		return nil, fmt.Errorf("%w: only %d bytes", ErrCorrupt, len(b))
	}
	if b[0] != encodeVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrCorrupt, b[0], encodeVersion)
	}
	body := b[encodeHeader:]
	if got, want := Checksum(body), binary.LittleEndian.Uint32(b[1:]); got != want {
		return nil, fmt.Errorf("%w: checksum %08x instead of %08x", ErrCorrupt, got, want)
	}
	r := reader{b: body}
	commits := make([]Commit, 0, r.count(minCommit))
	for range cap(commits) {
		size := r.uvarint()
		commit := reader{b: r.take(size), bad: r.bad}
		c := commit.commit()
		if commit.bad || len(commit.b) > 0 {
			return nil, fmt.Errorf("%w: commit %d of the batch", ErrCorrupt, len(commits))
		}
		commits = append(commits, c)
	}
	if r.bad || len(r.b) > 0 {
		return nil, fmt.Errorf("%w: the batch does not end where it should", ErrCorrupt)
	}
	return commits, nil
}

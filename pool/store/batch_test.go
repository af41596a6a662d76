package store

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"
)

// FuzzCheck: what Check allows has a binary form that reads back as it was.
func FuzzCheck(f *testing.F) {
	f.Add(int64(0), int64(1), true, true, false, int64(0), []byte("value"))
	f.Add(int64(4), int64(5), false, true, true, int64(0), []byte(nil))
	f.Add(int64(4), int64(7), false, true, false, int64(1), []byte("value"))
	f.Add(int64(4), int64(-7), true, false, true, int64(-9), []byte(nil))
	for _, after := range []int64{-1, 0, 7, MaxRevision - 1, MaxRevision, math.MaxInt64} {
		for _, revision := range []int64{math.MinInt64, after - 1, after, after + 1, after + 2, MaxRevision - 1, MaxRevision, MaxRevision + 1, math.MaxInt64} {
			f.Add(after, revision, false, false, false, int64(0), []byte(nil))
			f.Add(after, revision, true, false, false, int64(0), []byte(nil))
		}
	}
	f.Fuzz(func(t *testing.T, after, revision int64, reset, past, gone bool, expires int64, value []byte) {
		fact := Fact{Key: Key{Kind: 1, ID: revision}, Past: past, Gone: gone}
		if expires != 0 {
			fact.Expires = time.Unix(expires, 0).UTC()
		}
		if len(value) > 0 && !gone {
			fact.Value = value
		}
		commits := []Commit{
			{Revision: revision, Reset: reset, At: time.Unix(1, 0).UTC(), Facts: []Fact{{Key: fact.Key}, fact}},
			{Revision: revision + 1, At: time.Unix(2, 0).UTC()},
		}
		err := Check([]Batch{{Log: "a", After: after, Commits: commits}})
		if err != nil && !errors.Is(err, ErrNotApplied) {
			t.Fatalf("%v does not wrap ErrNotApplied", err)
		}
		got, decodeErr := DecodeCommits(EncodeCommits(nil, commits))
		if past && (gone || !fact.Expires.IsZero()) {
			if err == nil || !errors.Is(decodeErr, ErrCorrupt) {
				t.Fatalf("%+v: Check says %v, DecodeCommits %v", fact, err, decodeErr)
			}
			return
		}
		if decodeErr != nil || !reflect.DeepEqual(got, commits) {
			t.Fatalf("got %+v, %v, want %+v", got, decodeErr, commits)
		}
		follows := after >= 0 && revision > after && revision < MaxRevision && (reset || revision-1 == after)
		if follows != (err == nil) {
			t.Fatalf("revision %d after %d: %v", revision, after, err)
		}
	})
}

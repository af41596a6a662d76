package feed_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/feed"
)

// A ring is the end of the list of all that was pushed, cut to its bounds.
func TestRing_model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := feed.Ring[int64]{Entries: rapid.IntRange(1, 200).Draw(t, "entries"), Bytes: rapid.IntRange(1, 500).Draw(t, "bytes")}
		type pushed struct {
			revision int64
			size     int
		}
		var all []pushed
		next := rapid.Int64Range(1, 1000).Draw(t, "first")
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			if rapid.IntRange(0, 60).Draw(t, "jump") == 0 {
				next += rapid.Int64Range(1, 10).Draw(t, "by")
				all = nil
			}
			size := rapid.IntRange(0, 20).Draw(t, "size")
			r.Push(next, next, size)
			all = append(all, pushed{next, size})
			next++
			bytes := 0
			for _, p := range all {
				bytes += p.size
			}
			for len(all) > 1 && (len(all) > r.Entries || bytes > r.Bytes) {
				bytes -= all[0].size
				all = all[1:]
			}
			from := all[0].revision + rapid.Int64Range(-2, int64(len(all))).Draw(t, "from")
			dst := make([]int64, rapid.IntRange(1, 50).Draw(t, "room"))
			n, ok := r.Read(dst, from)
			if want := from >= all[0].revision; ok != want {
				t.Fatalf("revision %d, the oldest is %d: %v", from, all[0].revision, ok)
			}
			if !ok {
				continue
			}
			var want []int64
			for _, p := range all {
				if p.revision >= from && len(want) < len(dst) {
					want = append(want, p.revision)
				}
			}
			if !slices.Equal(dst[:n], want) {
				t.Fatalf("from %d: %v, want %v", from, dst[:n], want)
			}
		}
	})
}

// A ring that was reset has nothing but a place to go on from.
func TestRing_reset(t *testing.T) {
	var r feed.Ring[string]
	r.Push(7, "seven", 1)
	r.Reset(9)
	if _, ok := r.Read(make([]string, 1), 9); ok {
		t.Error("revision 9 is still read")
	}
	if n, ok := r.Read(make([]string, 1), 10); n != 0 || !ok {
		t.Errorf("revision 10: %d, %v, want that nothing came yet", n, ok)
	}
	r.Push(10, "ten", 1)
	dst := make([]string, 1)
	if n, ok := r.Read(dst, 10); n != 1 || !ok || dst[0] != "ten" {
		t.Errorf("revision 10: %d, %v, %q", n, ok, dst[0])
	}
}

package taskpb

import (
	"hash/maphash"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// Most tasks have the labels of many others, and a map takes more than 300 bytes:
// those decoded from the same bytes share one. As with sharedStrings, the table
// is of fixed size and may forget.
var sharedMaps [1 << 12]atomic.Pointer[labelSet]

// maxSharedLabels is how long the encoded labels may be that are shared, in bytes.
const maxSharedLabels = 256

type labelSet struct {
	entries string
	labels  map[string]string
}

// sharedLabels reads labels of a task from their entries as appending.labels
// writes them, tags included; false when they are otherwise. Nobody may change
// the map.
func sharedLabels(entries []byte) (map[string]string, bool) {
	if len(entries) == 0 {
		return nil, true
	}
	if len(entries) > maxSharedLabels {
		return scanLabels(entries)
	}
	slot := &sharedMaps[maphash.Bytes(sharedSeed, entries)%uint64(len(sharedMaps))]
	if seen := slot.Load(); seen != nil && seen.entries == string(entries) {
		return seen.labels, true
	}
	labels, ok := scanLabels(entries)
	if ok {
		slot.Store(&labelSet{string(entries), labels})
	}
	return labels, ok
}

func scanLabels(entries []byte) (map[string]string, bool) {
	labels := make(map[string]string)
	for s := (scanning{rest: entries}); len(s.rest) > 0; {
		s.tag()
		in := scanning{rest: s.bytes()}
		var text [2]string
		for i := range text {
			if n, kind := in.tag(); int(n) != i+int(entryKey) || kind != protowire.BytesType {
				return nil, false
			}
			text[i] = in.name(in.bytes())
		}
		if s.odd || in.odd || len(in.rest) > 0 {
			return nil, false
		}
		if _, twice := labels[text[0]]; twice {
			return nil, false
		}
		labels[text[0]] = text[1]
	}
	return labels, true
}

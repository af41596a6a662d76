package taskpb

import (
	"hash/maphash"
	"sync/atomic"
)

// Ids, members and label keys come again and again: in a task, in those that
// depend on it, in every event. Decoding gives each its own copy, which shared
// lets go of. The table is of fixed size and may forget, so it needs no lock
// and holds little.
var (
	sharedStrings [1 << 14]atomic.Pointer[string]
	sharedSeed    = maphash.MakeSeed()
)

// maxShared is the longest text worth sharing, in bytes.
const maxShared = 128

// shared returns a string equal to s, often one that was seen before.
func shared(s string) string {
	if s == "" || len(s) > maxShared {
		return s
	}
	slot := &sharedStrings[maphash.String(sharedSeed, s)%uint64(len(sharedStrings))]
	if seen := slot.Load(); seen != nil && *seen == s {
		return *seen
	}
	kept := s
	slot.Store(&kept)
	return s
}

// sharedBytes is shared for a text that is not kept.
func sharedBytes(b []byte) string {
	if len(b) == 0 || len(b) > maxShared {
		return string(b)
	}
	slot := &sharedStrings[maphash.Bytes(sharedSeed, b)%uint64(len(sharedStrings))]
	if seen := slot.Load(); seen != nil && *seen == string(b) {
		return *seen
	}
	kept := string(b)
	slot.Store(&kept)
	return kept
}

// sharedAll shares each of the strings, in place; nil when there are none.
func sharedAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	for i, s := range list {
		list[i] = shared(s)
	}
	return list
}

package pool

import (
	"strconv"
	"strings"
)

// idIndex finds nodes by id or by a prefix of at least eight characters. It is
// keyed by the id's first eight hexadecimal digits, which every such prefix
// holds whole; ids that share them are rare and lie in a list.
type idIndex map[uint32][]*node

// bucketOf returns the key of an id or prefix; false when its first eight
// characters are not hexadecimal digits.
func bucketOf(id string) (uint32, bool) {
	if len(id) < 8 {
		return 0, false
	}
	bucket, err := strconv.ParseUint(id[:8], 16, 32)
	return uint32(bucket), err == nil
}

func (x idIndex) get(id string) *node {
	bucket, ok := bucketOf(id)
	if !ok {
		return nil
	}
	for _, n := range x[bucket] {
		if n.task.ID == id {
			return n
		}
	}
	return nil
}

// set puts n where a node of the same id was, or beside the others.
func (x idIndex) set(n *node) {
	bucket, ok := bucketOf(n.task.ID)
	if !ok {
		return
	}
	have := x[bucket]
	for i := range have {
		if have[i].task.ID == n.task.ID {
			have[i] = n
			return
		}
	}
	x[bucket] = append(have, n)
}

func (x idIndex) remove(id string) {
	bucket, ok := bucketOf(id)
	if !ok {
		return
	}
	have := x[bucket]
	kept := make([]*node, 0, len(have))
	for _, n := range have {
		if n.task.ID != id {
			kept = append(kept, n)
		}
	}
	if len(kept) == 0 {
		delete(x, bucket)
		return
	}
	x[bucket] = kept
}

// withPrefix returns the ids that begin with prefix, which is lower-case.
func (x idIndex) withPrefix(prefix string) []string {
	bucket, ok := bucketOf(prefix)
	if !ok {
		return nil
	}
	var ids []string
	for _, n := range x[bucket] {
		if strings.HasPrefix(n.task.ID, prefix) {
			ids = append(ids, n.task.ID)
		}
	}
	return ids
}

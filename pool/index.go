package pool

import (
	"slices"
	"strconv"
	"strings"
)

// idIndex finds nodes by id or by a prefix of at least eight characters. It is
// keyed by the id's first eight hexadecimal digits, which every such prefix
// holds whole. Ids that the pool chose share them seldom; those that somebody else
// chose may all begin alike.
type idIndex struct {
	// alone are the nodes whose id shares its beginning with no other's, crowded
	// the others.
	alone   map[uint32]*node
	crowded map[uint32]map[string]*node
}

// newIDIndex makes room for so many.
func newIDIndex(n int) idIndex {
	return idIndex{alone: make(map[uint32]*node, n), crowded: map[uint32]map[string]*node{}}
}

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
	if n := x.alone[bucket]; n != nil {
		if n.task.ID == id {
			return n
		}
		return nil
	}
	if len(x.crowded) == 0 {
		return nil
	}
	return x.crowded[bucket][id]
}

// set puts n where a node of the same id was, or beside the others.
func (x idIndex) set(n *node) {
	bucket, ok := bucketOf(n.task.ID)
	if !ok {
		return
	}
	if many := x.crowded[bucket]; many != nil {
		many[n.task.ID] = n
		return
	}
	other := x.alone[bucket]
	if other == nil || other.task.ID == n.task.ID {
		x.alone[bucket] = n
		return
	}
	x.crowded[bucket] = map[string]*node{n.task.ID: n, other.task.ID: other}
	delete(x.alone, bucket)
}

func (x idIndex) remove(id string) {
	bucket, ok := bucketOf(id)
	if !ok {
		return
	}
	if many := x.crowded[bucket]; many != nil {
		if delete(many, id); len(many) == 0 {
			delete(x.crowded, bucket)
		}
		return
	}
	if n := x.alone[bucket]; n != nil && n.task.ID == id {
		delete(x.alone, bucket)
	}
}

// withPrefix returns the ids that begin with prefix, which is lower-case, in
// their order.
func (x idIndex) withPrefix(prefix string) []string {
	bucket, ok := bucketOf(prefix)
	if !ok {
		return nil
	}
	var ids []string
	if n := x.alone[bucket]; n != nil && strings.HasPrefix(n.task.ID, prefix) {
		ids = append(ids, n.task.ID)
	}
	for id := range x.crowded[bucket] {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

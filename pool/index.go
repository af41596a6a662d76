package pool

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// idIndex finds nodes by id or by a prefix of at least eight characters. It is
// keyed by the id's first eight hexadecimal digits, which every such prefix
// holds whole. Ids that the pool chose share them seldom and lie in a list;
// those that somebody else chose may all begin alike, so a long list becomes a
// map.
type idIndex struct {
	few     map[uint32][]*node
	crowded map[uint32]map[string]*node
}

// maxFew is the longest list.
const maxFew = 16

func newIDIndex() idIndex {
	return idIndex{few: map[uint32][]*node{}, crowded: map[uint32]map[string]*node{}}
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
	for _, n := range x.few[bucket] {
		if n.task.ID == id {
			return n
		}
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
	have := x.few[bucket]
	for i := range have {
		if have[i].task.ID == n.task.ID {
			have[i] = n
			return
		}
	}
	if len(have) < maxFew {
		x.few[bucket] = append(have, n)
		return
	}
	many := map[string]*node{n.task.ID: n}
	for _, other := range have {
		many[other.task.ID] = other
	}
	x.crowded[bucket] = many
	delete(x.few, bucket)
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
	kept := slices.DeleteFunc(slices.Clone(x.few[bucket]), func(n *node) bool { return n.task.ID == id })
	if len(kept) == 0 {
		delete(x.few, bucket)
		return
	}
	x.few[bucket] = kept
}

// withPrefix returns the ids that begin with prefix, which is lower-case, in
// their order.
func (x idIndex) withPrefix(prefix string) []string {
	bucket, ok := bucketOf(prefix)
	if !ok {
		return nil
	}
	nodes := x.few[bucket]
	if many := x.crowded[bucket]; many != nil {
		nodes = slices.Collect(maps.Values(many))
	}
	var ids []string
	for _, n := range nodes {
		if strings.HasPrefix(n.task.ID, prefix) {
			ids = append(ids, n.task.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

package server

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// A watch's cursors carry a hash of its filter: what was not in one view is not
// known to another. Cursors outlive servers, so the hash is written out field by
// field, and a field that is not set adds nothing: what later versions add does
// not spoil the cursors there are. It must not change.

// filterHash is the hash of a filter as the actor sees it; never 0, which is of
// cursors that fit any filter. No filter has another than an empty one, which
// leaves out closed tasks.
func filterHash(m *taskpoolv1.TaskFilter, actor string) uint32 {
	h := filterHasher{sha256.New()}
	if m != nil {
		h.filter(m)
		if dependsOnActor(m) {
			h.texts(0, actor)
		}
	}
	return max(1, binary.BigEndian.Uint32(h.Sum(nil)))
}

type filterHasher struct{ hash.Hash }

func (h filterHasher) filter(m *taskpoolv1.TaskFilter) {
	h.texts(1000) // there is a filter
	hashEach(h, 1, m.GetStatuses())
	h.flag(2, m.GetAvailable())
	h.flag(3, m.GetClaimable())
	hashEach(h, 4, m.GetPriorities())
	hashEach(h, 5, m.GetTypes())
	h.text(6, m.GetAssignee())
	h.flag(7, m.GetUnassigned())
	h.text(8, m.GetHolder())
	h.text(9, m.GetReviewer())
	h.text(10, m.GetCreatedBy())
	h.text(11, m.GetParentId())
	h.flag(12, m.GetTopLevel())
	h.text(13, m.GetGraphId())
	h.text(14, m.GetAgent())
	for _, k := range slices.Sorted(maps.Keys(m.GetLabels())) {
		h.texts(15, k, m.GetLabels()[k])
	}
	if since := m.GetClosedSince(); since != nil {
		h.numbers(16, since.GetSeconds(), int64(since.GetNanos()))
	}
	h.flag(17, m.GetIncludeClosed())
	h.text(18, m.GetText())
}

// hashEach adds the values of an enumeration, whatever their order.
func hashEach[M ~int32](h filterHasher, field int64, values []M) {
	if len(values) == 0 {
		return
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	numbers := make([]int64, len(sorted))
	for i, v := range sorted {
		numbers[i] = int64(v)
	}
	h.numbers(field, numbers...)
}

func (h filterHasher) flag(field int64, set bool) {
	if set {
		h.numbers(field)
	}
}

func (h filterHasher) text(field int64, s string) {
	if s != "" {
		h.texts(field, s)
	}
}

func (h filterHasher) numbers(field int64, all ...int64) {
	for _, n := range append([]int64{field, int64(len(all))}, all...) {
		_ = binary.Write(h, binary.BigEndian, n) // a hash takes everything
	}
}

func (h filterHasher) texts(field int64, all ...string) {
	h.numbers(field, int64(len(all)))
	for _, s := range all {
		h.numbers(int64(len(s)))
		h.Write([]byte(s))
	}
}

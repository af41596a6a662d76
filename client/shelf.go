package client

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// shelf has tasks by id and by the order of their creation, which is that of the
// numbers in their keys.
type shelf struct {
	byID map[string]*place
	// inOrder has every place of byID, and empty ones: taking out of the middle
	// of a long list one by one would cost more than all else.
	inOrder []*place
	empty   int
}

// place is where a task stands; empty: with none.
type place struct {
	number int64
	id     string
	task   *taskpoolv1.Task
}

func newShelf(changes []*taskpoolv1.TaskChange) *shelf {
	s := &shelf{byID: make(map[string]*place, len(changes))}
	s.apply(changes)
	return s
}

// apply does what one revision, or snapshot, did.
func (s *shelf) apply(changes []*taskpoolv1.TaskChange) {
	var fresh []*place
	for _, change := range changes {
		at := s.byID[change.GetTaskId()]
		switch change.GetKind() {
		case taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED:
			if at == nil {
				at = &place{number: numberOf(change.GetTask().GetKey()), id: change.GetTaskId()}
				s.byID[at.id] = at
				fresh = append(fresh, at)
			}
			at.task = change.GetTask()
		case taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW, taskpoolv1.ChangeKind_CHANGE_KIND_DELETED:
			if at != nil {
				delete(s.byID, at.id)
				at.task = nil
				s.empty++
			}
		}
	}
	s.merge(fresh)
	if s.empty > len(s.byID)+16 {
		s.inOrder = slices.DeleteFunc(s.inOrder, func(p *place) bool { return p.task == nil })
		s.empty = 0
	}
}

// merge puts places in order. Most are new tasks and go to the end.
func (s *shelf) merge(fresh []*place) {
	slices.SortFunc(fresh, byNumber)
	old := len(s.inOrder)
	s.inOrder = append(s.inOrder, fresh...)
	for to := len(s.inOrder) - 1; len(fresh) > 0 && old > 0; to-- {
		if last := fresh[len(fresh)-1]; byNumber(s.inOrder[old-1], last) <= 0 {
			s.inOrder[to], fresh = last, fresh[:len(fresh)-1]
		} else {
			s.inOrder[to] = s.inOrder[old-1]
			old--
		}
	}
	copy(s.inOrder, fresh) // what comes before all others
}

func byNumber(a, b *place) int {
	return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.id, b.id))
}

// get finds by id or key.
func (s *shelf) get(id string) (*taskpoolv1.Task, bool) {
	if at := s.byID[id]; at != nil {
		return at.task, true
	}
	if id == "" {
		return nil, false
	}
	number := numberOf(id)
	i, _ := slices.BinarySearchFunc(s.inOrder, number, func(p *place, n int64) int { return cmp.Compare(p.number, n) })
	for ; i < len(s.inOrder) && s.inOrder[i].number == number; i++ {
		if t := s.inOrder[i].task; t != nil && t.GetKey() == id {
			return t, true
		}
	}
	return nil, false
}

// list copies what is there, in order.
func (s *shelf) list() []*taskpoolv1.Task {
	all := make([]*taskpoolv1.Task, 0, len(s.byID))
	for _, p := range s.inOrder {
		if p.task != nil {
			all = append(all, p.task)
		}
	}
	return all
}

// numberOf is 12 for "T-12". What has no number comes last.
func numberOf(key string) int64 {
	n, err := strconv.ParseInt(key[strings.LastIndexByte(key, '-')+1:], 10, 64)
	if err != nil || n < 0 {
		return math.MaxInt64
	}
	return n
}

package pool

import (
	"fmt"
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Ids that begin alike are found as all others, few or many of them.
func TestIDIndex_idsThatBeginAlike(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000} {
		x := newIDIndex(0)
		x.set(&node{task: &task.Task{ID: "5a1f0c2f-0000-4000-8000-000000000000"}})
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprintf("5a1f0c2e-0000-4000-8000-%012d", i)
			x.set(&node{task: &task.Task{ID: ids[i]}})
		}
		again := &node{task: &task.Task{ID: ids[n/2]}}
		x.set(again)
		if x.get(ids[n/2]) != again || x.get(ids[0]).task.ID != ids[0] || x.get("5a1f0c2e-1111-4000-8000-000000000000") != nil || x.get("nonsense") != nil {
			t.Errorf("of %d: others are found", n)
		}
		if got := x.withPrefix("5a1f0c2e"); !slices.Equal(got, ids) {
			t.Errorf("%d of %d begin with it", len(got), n)
		}
		for i, id := range ids {
			if x.remove(id); x.get(id) != nil || i < n-1 && x.get(ids[i+1]) == nil {
				t.Errorf("of %d: %s is still there, or others are gone", n, id)
			}
			x.remove(id)
		}
		if got := x.withPrefix("5a1f0c2e"); got != nil || len(x.alone)+len(x.crowded) != 1 {
			t.Errorf("of %d: %v is left", n, got)
		}
	}
}

package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Against the naive way: a map, sorted for each listing.
func TestShelf(t *testing.T) {
	for round := range uint64(20) {
		chance := rand.New(rand.NewPCG(7, round))
		naive := map[int]*taskpoolv1.Task{}
		var s *shelf
		for revision := range 400 {
			var changes []*taskpoolv1.TaskChange
			for _, n := range chance.Perm(60)[:chance.IntN(12)] {
				change := &taskpoolv1.TaskChange{TaskId: fmt.Sprintf("id-%d", 1000-n), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED}
				if delete(naive, n); chance.IntN(3) > 0 {
					change.Kind = taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED
					change.Task = &taskpoolv1.Task{Id: change.GetTaskId(), Key: fmt.Sprintf("T-%d", n), Revision: int64(revision)}
					naive[n] = change.GetTask()
				} else if chance.IntN(2) > 0 {
					change.Kind = taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW
				}
				changes = append(changes, change)
			}
			if s == nil {
				s = newShelf(changes)
			} else {
				s.apply(changes)
			}
			var want []*taskpoolv1.Task
			for n := range 60 {
				task, there := naive[n]
				if there {
					want = append(want, task)
				}
				for _, name := range []string{fmt.Sprintf("T-%d", n), fmt.Sprintf("id-%d", 1000-n)} {
					if got, ok := s.get(name); got != task || ok != there {
						t.Fatalf("revision %d: get(%s) = %v, %t", revision, name, got, ok)
					}
				}
			}
			if !slices.Equal(s.list(), want) {
				t.Fatalf("revision %d: %v, want %v", revision, s.list(), want)
			}
			if len(s.inOrder) > 2*len(want)+17 {
				t.Fatalf("revision %d: %d places for %d tasks", revision, len(s.inOrder), len(want))
			}
		}
	}
}

func TestShelfKeepsTasksWithoutANumber(t *testing.T) {
	upsert := func(id, key string) *taskpoolv1.TaskChange {
		return &taskpoolv1.TaskChange{TaskId: id, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Task: &taskpoolv1.Task{Id: id, Key: key}}
	}
	s := newShelf([]*taskpoolv1.TaskChange{upsert("c", "odd"), upsert("b", "T-99999999999999999999"), upsert("a", ""), upsert("d", "T-2")})
	var got []string
	for _, task := range s.list() {
		got = append(got, task.GetId())
	}
	if !slices.Equal(got, []string{"d", "a", "b", "c"}) {
		t.Errorf("listed %v", got)
	}
	for name, want := range map[string]string{"odd": "c", "T-99999999999999999999": "b", "a": "a", "T-2": "d", "": "", "even": ""} {
		if task, _ := s.get(name); task.GetId() != want {
			t.Errorf("get(%q) = %v, want %q", name, task, want)
		}
	}
}

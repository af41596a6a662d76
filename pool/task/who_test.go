package task

import (
	"math/rand/v2"
	"testing"
)

func TestWhoDescribe(t *testing.T) {
	task := &Task{Holder: "agent:a", Assignee: "agent:b", CreatedBy: "ext:c", Reviewer: "agent:d"}
	for want, who := range map[string]Who{
		"the holder (agent:a) or the operator (human)":                      ByHolder | ByOperator,
		"the assignee (agent:b), the filer (ext:c) or the operator (human)": ByAssignee | ByFiler | ByOperator | ByAnyoneIfUnassigned,
		"the reviewer (agent:d)":                                            ByReviewer,
		"the pool (system:pool)":                                            ByPool,
		"anyone":                                                            ByAnyone,
		"nobody":                                                            0,
		"the holder (agent:a), the filer (ext:c) or the reviewer (agent:d)": ByHolder | ByFiler | ByReviewer,
	} {
		if got := who.Describe(task, Rules{}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (ByFiler | ByAnyoneUnderEditRule).Describe(task, Rules{}); got != "anyone" {
		t.Error(got)
	}
	if got := (ByFiler | ByAnyoneUnderEditRule).Describe(task, Rules{EditRule: EditByFiler}); got != "the filer (ext:c)" {
		t.Error(got)
	}
	if got := (ByHolder | ByAnyoneIfUnassigned).Describe(&Task{}, Rules{}); got != "anyone" {
		t.Error(got)
	}
	if got := (ByHolder | ByAssignee).Describe(&Task{}, Rules{}); got != "nobody" {
		t.Error(got)
	}
}

// An actor without an id has no role that depends on who one is.
func TestNobodyHasNoRole(t *testing.T) {
	all := ByHolder | ByAssignee | ByFiler | ByOperator | ByReviewer | ByPool
	if all.Includes(&Task{}, Actor{}, Rules{}) {
		t.Error("nobody has a role")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		task := randomTask(random)
		if (all &^ ByHolder).Includes(task, Actor{ID: "agent:stranger", Holds: true}, Rules{}) {
			t.Fatalf("a stranger has a role in %+v", task)
		}
	}
}

package task

import (
	"slices"
	"testing"
)

// maySet says naively, for the first release, what the design says an actor may
// set by an update.
func maySet(t *Task, a Actor, rules Rules, to Status) bool {
	operator, filer := a.ID == "human", a.ID == t.CreatedBy
	assignee, unassigned := t.Assignee == a.ID, t.Assignee == ""
	childrenClosed, dependenciesDone := t.ChildrenOpen == 0, len(t.Unfinished) == 0
	reviewed := t.Reviewer != "" && t.Reviewer != a.ID
	switch t.Status {
	case Pending, Ready, InProgress:
		switch to {
		case Blocked:
			return a.Holds || assignee || filer || operator
		case Cancelled:
			return (filer || operator) && childrenClosed
		case Ready:
			return t.Status == InProgress && (a.Holds || operator)
		case InProgress:
			return t.Status == Ready && (assignee || unassigned) && dependenciesDone
		case Done:
			if reviewed || !childrenClosed || !dependenciesDone {
				return false
			}
			if t.Status == Ready {
				return unassigned || assignee || filer || operator
			}
			return t.Status == InProgress && (a.Holds || operator)
		}
	case Review:
		return to == Cancelled && (filer || operator) && childrenClosed
	case Blocked:
		return to == Ready && (a.Holds || assignee || filer || operator) || to == Cancelled && (filer || operator) && childrenClosed
	case Done, Cancelled, Failed:
		reopen := filer || operator || rules.EditRule == EditByAnyone
		switch to {
		case Ready:
			return reopen
		case InProgress:
			return reopen && dependenciesDone && (unassigned || assignee || t.AssignedByClaim)
		case Cancelled:
			return t.Status == Failed && (filer || operator) && childrenClosed
		}
	}
	return false
}

// Every status, actor and state of the task: what may be set is what the naive
// reading of the design says.
func TestAllowedNowIsTheDesign(t *testing.T) {
	members := []string{"human", "agent:a", "ext:b", "agent:c"}
	orNobody := append([]string{""}, members...)
	count := 0
	for _, status := range Statuses() {
		for _, actor := range members {
			for _, filer := range members[:3] {
				for _, assignee := range orNobody[:4] {
					for _, reviewer := range orNobody[:3] {
						for bits := range 32 {
							task := &Task{Status: status, CreatedBy: filer, Assignee: assignee, Reviewer: reviewer, AssignedByClaim: bits&16 != 0 && assignee != ""}
							a := Actor{ID: actor, Holds: bits&1 != 0 && status == InProgress}
							if a.Holds {
								task.Holder = actor
							}
							if bits&2 != 0 {
								task.ChildrenOpen = 1
							}
							if bits&4 != 0 {
								task.Unfinished = []string{"x"}
							}
							rules := Rules{EditRule: EditRule(bits >> 3 & 1)}
							var want []Status
							for _, to := range Statuses() {
								if maySet(task, a, rules, to) {
									want = append(want, to)
								}
							}
							if got := AllowedNow(task, a, rules); !slices.Equal(got, want) {
								t.Fatalf("%v %+v by %+v under %+v: %v, want %v", status, task, a, rules, got, want)
							}
							count++
						}
					}
				}
			}
		}
	}
	t.Log(count, "cases")
}

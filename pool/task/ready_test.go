package task

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

// randomTask is any combination of fields, also ones that no pool would make.
func randomTask(random *rand.Rand) *Task {
	t := &Task{
		ID: "id", Status: Status(random.IntN(int(statusCount) + 1)), CreatedBy: pick(random, "", "human", "agent:a"),
		Assignee: pick(random, "", "", "agent:a", "ext:b"), Holder: pick(random, "", "", "agent:a"), Reviewer: pick(random, "", "ext:b"),
		NotBefore: pick(random, time.Time{}, time.Unix(1e9, 0)), BlockedReason: pick(random, "", "broken"), HeldAt: time.Unix(1e9, 0),
	}
	for i := range random.IntN(4) {
		t.Dependencies = append(t.Dependencies, fmt.Sprint("dependency-", i))
	}
	t.Unfinished = t.Dependencies[:random.IntN(len(t.Dependencies)+1)]
	return t
}

// Claimable is "all checks hold", and both are what the design says, for any task.
func TestReadinessAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	claimable := 0
	for range 50_000 {
		task, actor := randomTask(random), pick(random, "", "human", "agent:a", "ext:b")
		all := true
		for _, check := range Readiness(task, actor) {
			all = all && check.Holds
			if check.Detail == "" || check.Name == "" {
				t.Fatalf("%+v says nothing", check)
			}
		}
		want := task.Status == Ready && len(task.Unfinished) == 0 && task.Holder == "" && (task.Assignee == "" || task.Assignee == actor)
		if got := Claimable(task, actor); got != all || got != want {
			t.Fatalf("%+v by %q: claimable %v, all checks %v, want %v", task, actor, got, all, want)
		}
		if want {
			claimable++
		}
		// The claim by status and the one by ClaimTask ask the same question.
		m, ok := FindMove(task, InProgress, ViaClaim)
		moves := ok && m.By.Includes(task, Actor{ID: actor}, Rules{}) && m.Unmet(task, Actor{ID: actor}) == 0
		if task.Holder == "" && actor != "" && moves != want {
			t.Fatalf("%+v by %q: the table says %v, readiness %v", task, actor, moves, want)
		}
	}
	if claimable < 100 {
		t.Errorf("only %d were claimable", claimable)
	}
}

func TestClaimableAllocatesNothing(t *testing.T) {
	task := &Task{Status: Ready, Assignee: "agent:a"}
	if n := testing.AllocsPerRun(100, func() { Claimable(task, "agent:a") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReadinessTells(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	many := make([]string, 25)
	for i := range many {
		many[i] = fmt.Sprint("id", i)
	}
	for _, c := range []struct {
		name  string
		t     Task
		fails []string
		says  string
	}{
		{"ready", Task{Status: Ready}, nil, ""},
		{"mine", Task{Status: Ready, Assignee: "agent:a"}, nil, ""},
		{"one dependency", Task{Status: Pending, Dependencies: []string{"a", "b"}, Unfinished: []string{"b"}}, []string{CheckDependencies}, "1 task not done yet: b"},
		{"many dependencies", Task{Status: Pending, Unfinished: many}, []string{CheckDependencies}, "id9, and 15 more"},
		{"later", Task{Status: Pending, NotBefore: at}, []string{CheckNotBefore}, "2030-01-02T03:04:05Z"},
		{"later, and a dependency", Task{Status: Pending, NotBefore: at, Unfinished: []string{"b"}}, []string{CheckDependencies}, "b"},
		{"not opened", Task{Status: Pending}, []string{CheckNotBefore}, "not opened"},
		{"held", Task{Status: InProgress, Holder: "ext:b", HeldAt: at}, []string{CheckOpen, CheckUnheld}, "in progress"},
		{"held by me", Task{Status: InProgress, Holder: "agent:a", HeldAt: at}, []string{CheckOpen, CheckUnheld}, "in progress"},
		{"another's", Task{Status: Ready, Assignee: "ext:b"}, []string{CheckAssignee}, "ext:b"},
		{"blocked", Task{Status: Blocked, BlockedReason: "no key"}, []string{CheckOpen}, "no key"},
		{"review", Task{Status: Review}, []string{CheckOpen}, "verdict"},
		{"done", Task{Status: Done}, []string{CheckOpen}, "reopen"},
		{"cancelled", Task{Status: Cancelled}, []string{CheckOpen}, "reopen"},
		{"failed", Task{Status: Failed}, []string{CheckOpen}, "reopen"},
	} {
		var fails []string
		said := ""
		checks := Readiness(&c.t, "agent:a")
		for _, check := range checks {
			if !check.Holds {
				fails = append(fails, check.Name)
				said += check.Detail + "\n"
			}
			if check.Name == CheckDependencies && !slices.Equal(check.Related, c.t.Unfinished) {
				t.Errorf("%s: related are %q", c.name, check.Related)
			}
			if check.Name == CheckUnheld && !check.Holds && !slices.Equal(check.Members, []string{c.t.Holder}) {
				t.Errorf("%s: members are %q", c.name, check.Members)
			}
			if check.Name == CheckAssignee && !check.Holds && !slices.Equal(check.Members, []string{c.t.Assignee}) {
				t.Errorf("%s: members are %q", c.name, check.Members)
			}
		}
		if !slices.Equal(fails, c.fails) || !strings.Contains(said, c.says) || len(checks) != 5 {
			t.Errorf("%s: fails %q: %s", c.name, fails, said)
		}
		if strings.Contains(said, "again") && strings.Contains(said, "retry") {
			t.Errorf("%s invites a retry: %s", c.name, said)
		}
	}
	if mine, theirs := Readiness(&Task{Status: InProgress, Holder: "agent:a"}, "agent:a")[3], Readiness(&Task{Status: InProgress, Holder: "agent:a"}, "ext:b")[3]; mine.Detail == theirs.Detail {
		t.Error("who holds a task is not told so")
	}
}

func TestDerivedStatus(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		unfinished int
		notBefore  time.Time
		want       Status
	}{
		{0, time.Time{}, Ready},
		{1, time.Time{}, Pending},
		{0, now, Ready},
		{0, now.Add(1), Pending},
		{0, now.Add(-1), Ready},
		{2, now.Add(-1), Pending},
		{2, now.Add(1), Pending},
	} {
		if got := DerivedStatus(c.unfinished, c.notBefore, now); got != c.want {
			t.Errorf("%d, %v: %v", c.unfinished, c.notBefore, got)
		}
	}
}

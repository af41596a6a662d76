package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// matrix is the table of moves written down a second time, one line for each
// status and target: from, to, triggers, who (A anyone, H holder, S assignee,
// F filer, O operator, R reviewer, P pool, U anyone if unassigned, E anyone
// under the edit rule), what it waits for ("-": nothing), conditions.
const matrix = `
new         ready       create                   A    -
pending     ready       derive                   P    -         deps,not-before
pending     blocked     set                      HSFO -         reason
pending     cancelled   set                      FO   -         children
ready       pending     derive                   P    -
ready       in_progress claim,set                SU   -         deps,take
ready       done        set                      SFOU -         plain,no-reviewer,deps,children
ready       blocked     set                      HSFO -         reason
ready       cancelled   set                      FO   -         children
in_progress ready       release,set              HO   -
in_progress ready       submit-error             HO   -         plain
in_progress ready       submit-error             HO   contracts contract,attempts-left
in_progress ready       expiry                   P    -
in_progress ready       assign                   HSFOU -
in_progress ready       gate-failed              P    contracts contract,attempts-left
in_progress ready       graph-cancel             P    graphs
in_progress done        set,submit               HO   -         plain,no-reviewer,deps,children
in_progress done        gate-passed              P    contracts contract,waived,deps,children
in_progress review      set,submit               HO   review    plain,reviewer
in_progress review      gate-passed              P    contracts contract
in_progress failed      gate-failed,submit-error P    contracts contract,attempts-used
in_progress failed      expiry                   P    -         expired-often
in_progress blocked     set                      HSFO -         reason
in_progress cancelled   set                      FO   -         children
review      done        pass,set                 RO   review    plain,not-executor,deps,children
review      done        pass                     RO   contracts contract,not-executor,deps,children
review      done        waive                    O    review    deps,children
review      ready       fail,set                 RO   review    plain,reason
review      ready       fail                     RO   contracts contract,reason,attempts-left
review      ready       graph-cancel             P    graphs
review      review      release                  HO   review
review      review      expiry                   P    review
review      failed      fail                     P    contracts contract,attempts-used
review      cancelled   set                      FO   -         children
blocked     ready       set                      HSFO -
blocked     cancelled   set                      FO   -         children
done        ready       set                      FOE  -
done        in_progress set                      FOE  -         deps,not-before,take
cancelled   ready       set                      FOE  -
cancelled   in_progress set                      FOE  -         deps,not-before,take
failed      ready       set                      FOE  -
failed      ready       retry                    FOE  graphs
failed      in_progress set                      FOE  -         deps,not-before,take
failed      cancelled   set                      FO   -         children
`

var viaNames = map[Via]string{
	ViaCreate: "create", ViaDerive: "derive", ViaSet: "set", ViaClaim: "claim", ViaRelease: "release", ViaAssign: "assign",
	ViaSubmit: "submit", ViaSubmitError: "submit-error", ViaGatePassed: "gate-passed", ViaGateFailed: "gate-failed", ViaPass: "pass",
	ViaFail: "fail", ViaWaive: "waive", ViaExpiry: "expiry", ViaGraphCancel: "graph-cancel", ViaRetry: "retry",
}

var whoNames = map[Who]string{
	ByAnyone: "A", ByHolder: "H", ByAssignee: "S", ByFiler: "F", ByOperator: "O", ByReviewer: "R", ByPool: "P",
	ByAnyoneIfUnassigned: "U", ByAnyoneUnderEditRule: "E",
}

var whenNames = map[When]string{
	NoContract: "plain", HasContract: "contract", NoOtherReviewer: "no-reviewer", OtherReviewer: "reviewer", DependenciesDone: "deps",
	ChildrenClosed: "children", MayTake: "take", ReasonRequired: "reason", NotExecutor: "not-executor", ReviewWaived: "waived",
	AttemptsLeft: "attempts-left", AttemptsUsedUp: "attempts-used", ExpiredTooOften: "expired-often", NotBeforeReached: "not-before",
}

// spell writes the bits of a set in words, sorted.
func spell[B ~uint16 | ~uint32](t *testing.T, set B, names map[B]string) string {
	var words []string
	for bit := B(1); bit != 0; bit <<= 1 {
		if set&bit == 0 {
			continue
		}
		if names[bit] == "" {
			t.Errorf("bit %b has no name", bit)
		}
		words = append(words, names[bit])
	}
	slices.Sort(words)
	return strings.Join(words, ",")
}

func sorted(words string) string {
	all := strings.Split(words, ",")
	slices.Sort(all)
	return strings.Join(all, ",")
}

// The whole table is the matrix: each trigger of each status and target, both ways.
func TestMovesAreTheMatrix(t *testing.T) {
	want := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(matrix)) {
		f := append(strings.Fields(line), "")
		for via := range strings.SplitSeq(f[2], ",") {
			want[fmt.Sprintln(f[0], f[1], via, sorted(strings.Join(strings.Split(f[3], ""), ",")), f[4], sorted(f[5]))] = true
		}
	}
	got := map[string]bool{}
	for _, m := range Moves() {
		feature := m.Feature
		if feature == "" {
			feature = "-"
		}
		for from := StatusUnspecified; from < statusCount; from++ {
			if !m.From.Has(from) {
				continue
			}
			name := from.String()
			if from == StatusUnspecified {
				name = "new"
			}
			for via := Via(1); via != 0; via <<= 1 {
				if m.Via&via == 0 {
					continue
				}
				line := fmt.Sprintln(name, m.To, viaNames[via], spell(t, m.By, whoNames), feature, spell(t, m.When, whenNames))
				if got[line] {
					t.Errorf("twice in the table: %s", line)
				}
				got[line] = true
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if !got[line] {
			t.Errorf("not in the table: %s", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if !want[line] {
			t.Errorf("not in the matrix: %s", line)
		}
	}
}

func TestMovesInvariants(t *testing.T) {
	type way struct {
		from, to Status
		via      Via
		contract bool
	}
	seen := map[way]bool{}
	for i, m := range Moves() {
		if m.By == 0 || m.Via == 0 || m.From == 0 {
			t.Errorf("row %d is of no use", i)
		}
		leavesHold := m.From.Has(InProgress) || m.From.Has(Review)
		if m.DropsHold != leavesHold {
			t.Errorf("row %d drops the hold: %v", i, m.DropsHold)
		}
		if m.UsesAttempt && m.When&HasContract == 0 {
			t.Errorf("row %d uses an attempt of a task without a contract", i)
		}
		if m.To == Failed && m.By != ByPool {
			t.Errorf("row %d: failed is set by hand", i)
		}
		if m.To == Pending && m.Via != ViaDerive {
			t.Errorf("row %d: pending is set", i)
		}
		if m.To.Closed() && m.When&ChildrenClosed == 0 {
			t.Errorf("row %d closes a parent with open children", i)
		}
		if m.To == Done && m.When&DependenciesDone == 0 {
			t.Errorf("row %d is done before its dependencies", i)
		}
		// Done is earned: with a contract, only by a verdict, a gate with a
		// waiver in the contract, or an operator's waiver.
		if m.To == Done && m.When&NoContract == 0 && m.Via&^(ViaGatePassed|ViaPass|ViaWaive) != 0 {
			t.Errorf("row %d goes around the contract", i)
		}
		for from := StatusUnspecified; from < statusCount; from++ {
			for via := Via(1); via != 0; via <<= 1 {
				for _, contract := range []bool{false, true} {
					if !m.From.Has(from) || m.Via&via == 0 || m.When&NoContract != 0 && contract || m.When&HasContract != 0 && !contract {
						continue
					}
					w := way{from, m.To, via, contract}
					if seen[w] {
						t.Errorf("row %d: a second row for %v", i, w)
					}
					seen[w] = true
				}
			}
		}
	}
}

func TestFindMove(t *testing.T) {
	at := func(s Status) *Task { return &Task{Status: s} }
	for _, c := range []struct {
		t   *Task
		to  Status
		via Via
		ok  bool
	}{
		{nil, Ready, ViaCreate, true},
		{nil, Done, ViaSet, false},
		{at(Ready), InProgress, ViaClaim, true},
		{at(Pending), InProgress, ViaClaim, false},
		{at(Ready), Ready, ViaSet, false},
		{at(Pending), Ready, ViaSet, false},
		{at(InProgress), InProgress, ViaSet, false},
		{at(InProgress), Ready, ViaSet, true},
		{at(Blocked), Ready, ViaSet, true},
		{at(Done), Ready, ViaSet, true},
		{at(Done), Cancelled, ViaSet, false},
		{at(Cancelled), Done, ViaSet, false},
		{at(InProgress), Pending, ViaSet, false},
		{at(InProgress), Failed, ViaSet, false},
		{at(InProgress), Review, ViaGatePassed, false}, // without a contract
		{at(Blocked), InProgress, ViaSet, false},
		{at(Pending), Done, ViaSet, false},
		{at(Status(60)), Ready, ViaSet, false},
	} {
		if m, ok := FindMove(c.t, c.to, c.via); ok != c.ok || ok && m.To != c.to {
			t.Errorf("%+v: %v", c, ok)
		}
	}
	Moves()[0].To = Failed
	if m, _ := FindMove(nil, Ready, ViaCreate); m.To != Ready {
		t.Error("the table can be changed through Moves")
	}
}

func TestUnmet(t *testing.T) {
	all := Move{When: NoContract | HasContract | NoOtherReviewer | OtherReviewer | DependenciesDone | ChildrenClosed | MayTake | ReasonRequired | NotExecutor | AttemptsLeft}
	a := Actor{ID: "agent:a"}
	for _, c := range []struct {
		t    Task
		want When
	}{
		{Task{}, HasContract | OtherReviewer},
		{Task{Reviewer: "agent:a", Assignee: "agent:a"}, HasContract | OtherReviewer},
		{Task{Reviewer: "human"}, HasContract | NoOtherReviewer},
		{Task{Unfinished: []string{"x"}}, HasContract | OtherReviewer | DependenciesDone},
		{Task{ChildrenOpen: 1}, HasContract | OtherReviewer | ChildrenClosed},
		{Task{Assignee: "human", Status: Done}, HasContract | OtherReviewer | MayTake},
		{Task{Assignee: "human", Status: Done, AssignedByClaim: true}, HasContract | OtherReviewer},
		{Task{Assignee: "human", Status: Blocked, AssignedByClaim: true}, HasContract | OtherReviewer | MayTake},
	} {
		if got := all.Unmet(&c.t, a); got != c.want {
			t.Errorf("%+v: %s, want %s", c.t, spell(t, got, whenNames), spell(t, c.want, whenNames))
		}
	}
	if got := (Move{}).Unmet(&Task{Unfinished: []string{"x"}}, a); got != 0 {
		t.Errorf("a move without conditions: %b", got)
	}
}

package pool_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestRestore_isByteEqual(t *testing.T) {
	from := story(t)
	want := records(t, from.Pool)
	s := memory.New()
	defer func() { _ = s.Close() }()
	f, other := openOn(t, s), openOn(t, s)
	before := f.Cursor()
	r, err := f.restore(want)
	if err != nil {
		t.Fatal(err)
	}
	if r.Created != len(from.all()) || r.Unchanged != 0 || r.RefusedCount != 0 || r.Replayed {
		t.Errorf("got %+v", r)
	}
	if r.Cursor != f.Cursor() || r.Cursor.Epoch == before.Epoch || r.Cursor.Epoch == from.Cursor().Epoch {
		t.Errorf("it is at %v, before it was at %v", r.Cursor, before)
	}
	sameRecords(t, "restored", records(t, f.Pool), want)
	if wrong := f.Unsound(); wrong != "" {
		t.Fatal(wrong)
	}
	f.sameEverywhere(s, other)
	sameRecords(t, "restored, by another registry", records(t, other.Pool), want)
	sameRecords(t, "restored and opened again", records(t, openOn(t, s).Pool), want)

	// The keys of deleted tasks don't come again, and revisions go on.
	it := f.titled("new")
	newest := int64(0)
	for _, was := range from.all() {
		newest = max(newest, was.Revision)
	}
	if it.Key() != "T-10" || r.Cursor.Revision <= newest || it.Revision != f.Cursor().Revision {
		t.Errorf("the next task is %s in revision %d", it.Key(), it.Revision)
	}
	// A hold goes on under its holder's name, and a claim that made an
	// assignment takes it back.
	if d := f.as(worker).set("T-8", task.Ready); d.Assignee != "" || d.Holder != "" {
		t.Errorf("released it is assigned to %q", d.Assignee)
	}
	f.sameEverywhere(s, other)
}

func TestRestore_tokensAreFresh(t *testing.T) {
	from := story(t)
	old := from.as(worker).claim("T-8")
	f := open(t)
	if _, err := f.restore(records(t, from.Pool)); err != nil {
		t.Fatal(err)
	}
	token := f.as(worker).claim("T-8")
	if token == old {
		t.Fatal("a restored hold has the token of the old")
	}
	for _, s := range []string{old, token} {
		if strings.Contains(shown(t, records(t, f.Pool)), s) {
			t.Error("a token is exported")
		}
	}
	f.as(stranger).refused("HOLD_LOST", func() error {
		_, err := f.as(stranger).withToken("T-8", old, task.Patch{Status: new(task.Done)})
		return err
	})
}

func TestRestore_onlyOperatorsAndOnlyIntoAnEmptyPool(t *testing.T) {
	all := records(t, story(t).Pool)
	f := open(t)
	f.refused("NOT_PERMITTED", func() error {
		_, err := take(t, f.Pool, f.request(), pool.ImportRestore, all)
		return err
	})
	f.titled("there")
	f.refused("POOL_NOT_EMPTY", func() error { _, err := f.restore(all); return err })
	if _, err := f.Clear(t.Context(), pool.Request{Actor: operator}, f.Name()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.restore(all); err != nil {
		t.Errorf("into a pool that was cleared: %v", err)
	}
	f.refused("POOL_NOT_EMPTY", func() error { _, err := f.restore(all); return err })
}

func TestRestore_isAnsweredAgain(t *testing.T) {
	all := records(t, story(t).Pool)
	f := open(t)
	r := pool.Request{Actor: operator, ID: "once", Digest: "d"}
	first, err := take(t, f.Pool, r, pool.ImportRestore, all)
	if err != nil {
		t.Fatal(err)
	}
	f.delete("T-6")
	before := f.State()
	again, err := take(t, f.Pool, r, pool.ImportRestore, all)
	if err != nil || !again.Replayed || again.Created != first.Created || again.Cursor != first.Cursor {
		t.Errorf("got %+v, %v, want %+v", again, err, first)
	}
	r.Digest = "other"
	if _, err := take(t, f.Pool, r, pool.ImportRestore, all); reasonOf(err) != "REQUEST_ID_REUSED" {
		t.Errorf("another request under the id: %v", err)
	}
	if f.State() != before {
		t.Error("a repeat changed the pool")
	}
}

// What waited for a time goes on waiting, and opens when it has come, in the
// pool's own revision.
func TestRestore_waitsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := open(t)
		from.create(task.Draft{Title: "soon", NotBefore: time.Now().Add(time.Hour)})
		from.create(task.Draft{Title: "past by then", NotBefore: time.Now().Add(time.Minute)})
		all := records(t, from.Pool)
		time.Sleep(30 * time.Minute)
		f := open(t)
		if _, err := f.restore(all); err != nil {
			t.Fatal(err)
		}
		restored := f.get("T-1").Revision
		time.Sleep(time.Minute)
		synctest.Wait()
		if d := f.get("T-2"); d.Status != task.Ready || d.Revision <= restored || told(d, 1) != "system:pool status {From:pending To:ready Reason: Forced:false OpenChildren:[] Unfinished:[]}\n" {
			t.Errorf("%s, in revision %d: %s", d.Status, d.Revision, told(d, 0))
		}
		if d := f.get("T-1"); d.Status != task.Pending || d.Revision != restored {
			t.Errorf("%s, in revision %d", d.Status, d.Revision)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if d := f.get("T-1"); d.Status != task.Ready {
			t.Errorf("it is %s", d.Status)
		}
	})
}

// Data above a limit that was lowered since comes in.
func TestRestore_limitsDontCount(t *testing.T) {
	all := records(t, story(t).Pool)
	s := memory.New()
	defer func() { _ = s.Close() }()
	f := openWith(t, s, map[string]string{
		"LLM_CHAT_TASK_MAX_TITLE_LENGTH": "3", "TASKPOOL_MAX_CHILDREN": "1", "TASKPOOL_MAX_BODY_LENGTH": "1",
		"LLM_CHAT_TASK_MAX_HISTORY_LENGTH": "5", "TASKPOOL_MAX_EVENTS_PER_TASK": "1",
	})
	if _, err := f.restore(all); err != nil {
		t.Fatal(err)
	}
	sameRecords(t, "restored", records(t, f.Pool)[1:], all[1:]) // the outline tells the limits
}

// at finds the record of a task by its title, or of its nth event.
func at(t testing.TB, all [][]byte, title string, event int) int {
	t.Helper()
	i := slices.IndexFunc(all, func(b []byte) bool { return message(t, b).GetTask().GetTitle() == title })
	if i < 0 || message(t, all[i+event]).GetTask() != nil && event > 0 {
		t.Fatalf("no record of %q, event %d", title, event)
	}
	return i + event
}

func TestRestore_refusesWhatContradictsItself(t *testing.T) {
	all := records(t, story(t).Pool)
	design := message(t, all[at(t, all, "design", 0)]).GetTask()
	epic := message(t, all[at(t, all, "epic", 0)]).GetTask()
	for name, c := range map[string]struct {
		title string
		event int
		spoil func(*taskpoolv1.PoolRecord)
		field string
	}{
		"title":              {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Title = "" }, "task.title"},
		"key of another":     {"build it", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Key = "T-1" }, "task.key"},
		"no revision":        {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Revision = 0 }, "task.revision"},
		"no version":         {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Version = 0 }, "task.version"},
		"no change":          {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().UpdatedAt = nil }, "task.updated_at"},
		"status":             {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Status = 99 }, "task.status"},
		"bad instant":        {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().CreatedAt = &timestamppb.Timestamp{Nanos: -1} }, "task.created_at"},
		"dependents":         {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().DependentIds = []string{epic.GetId()} }, "task.dependent_ids"},
		"derived status":     {"build it", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Status = 1 }, "task.status"},
		"unfinished":         {"epic", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().UnfinishedDependencyIds = []string{design.GetId()} }, "task.unfinished_dependency_ids"},
		"depth":              {"build it", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().Depth = 2 }, "task.depth"},
		"children":           {"epic", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().ChildrenTotal = 7 }, "task.children_total"},
		"children done":      {"epic", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().ChildrenDone = 1 }, "task.children_done"},
		"history":            {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().History[0].Text = "other" }, "task.history[0]"},
		"history entry more": {"epic", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().History = []*taskpoolv1.ProgressEntry{{}} }, "task.history"},
		"history count":      {"design", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().HistoryCount = 2 }, "task.history_count"},
		"not before": {"design", 0, func(m *taskpoolv1.PoolRecord) {
			it := m.GetTask()
			it.Status, it.Holder, it.HeldAt, it.ClosedAt, it.Assignee = taskpoolv1.TaskStatus_TASK_STATUS_READY, "", nil, nil, ""
			it.NotBefore, m.AssignedByClaim = timestamppb.New(time.Now().Add(time.Hour)), false
		}, "task.status"},
		"missing dependency": {"epic", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().DependencyIds = []string{id(99)} }, "task.dependency_ids[0]"},
		"missing parent":     {"build it", 0, func(m *taskpoolv1.PoolRecord) { m.GetTask().ParentId = id(99) }, "task.parent_id"},
		"event id again":     {"design", 2, func(m *taskpoolv1.PoolRecord) { m.GetEvent().Id = 1 }, "event.id"},
		"event id backwards": {"design", 3, func(m *taskpoolv1.PoolRecord) { m.GetEvent().Id = 2 }, "event.id"},
		"event of another":   {"design", 1, func(m *taskpoolv1.PoolRecord) { m.GetEvent().TaskId = epic.GetId() }, "event.task_id"},
		"event without time": {"design", 1, func(m *taskpoolv1.PoolRecord) { m.GetEvent().At = nil }, "event.at"},
		"event kind":         {"design", 1, func(m *taskpoolv1.PoolRecord) { m.GetEvent().Kind = 99 }, "event.kind"},
		"event detail": {"design", 1, func(m *taskpoolv1.PoolRecord) {
			m.GetEvent().Detail = &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{}}
		}, "event.detail"},
		"claim":  {"design", 1, func(m *taskpoolv1.PoolRecord) { m.AssignedByClaim = true }, "assigned_by_claim"},
		"extent": {"design", 0, func(m *taskpoolv1.PoolRecord) { m.Extent = &taskpoolv1.PoolExtent{} }, "extent"},
	} {
		t.Run(name, func(t *testing.T) {
			i := at(t, all, c.title, c.event)
			bad := edited(t, all, func(k int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
				if k == i {
					c.spoil(m)
				}
				return m
			})
			f := open(t)
			e := as[*pool.InvalidError](t, f.refused("INVALID_FIELD", func() error { _, err := f.restore(bad); return err }))
			want := "records[" + strconv.Itoa(i) + "]." + c.field
			if !slices.ContainsFunc(e.Violations, func(v task.Violation) bool { return v.Field == want }) {
				t.Errorf("got %v, want a violation of %s", e.Violations, want)
			}
		})
	}
}

// Without what tells how many records there are, nobody would notice that some
// are missing, and numbers that were deleted would be given out again.
func TestRestore_needsTheFirstRecord(t *testing.T) {
	all := records(t, story(t).Pool)
	uncounted := edited(t, all, func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord { m.Extent = nil; return m })
	for name, bad := range map[string][][]byte{"without it": all[1:], "without an extent": uncounted} {
		f := open(t)
		e := as[*pool.InvalidError](t, f.refused("INVALID_FIELD", func() error { _, err := f.restore(bad); return err }))
		if len(e.Violations) != 1 || e.Violations[0].Field != "records[0].extent" {
			t.Errorf("%s: got %v", name, e.Violations)
		}
	}
}

func TestRestore_namesEveryViolationAtOnce(t *testing.T) {
	all := records(t, story(t).Pool)
	bad := edited(t, all, func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if m.GetTask() != nil {
			m.GetTask().Title, m.GetTask().CreatedBy = "", "nobody"
		}
		return m
	})
	f := open(t)
	e := as[*pool.InvalidError](t, f.refused("INVALID_FIELD", func() error { _, err := f.restore(bad); return err }))
	if len(e.Violations) != 2*7 {
		t.Errorf("got %d violations: %v", len(e.Violations), e.Violations)
	}
	// However much is wrong, the answer stays small.
	many := slices.Clone(all[:1])
	for range 200 {
		many = append(many, bad[1:]...)
	}
	e = as[*pool.InvalidError](t, f.refused("INVALID_FIELD", func() error { _, err := f.restore(many); return err }))
	if n := len(e.Violations); n > 110 {
		t.Errorf("got %d violations", n)
	}
}

func TestRestore_refusesCycles(t *testing.T) {
	f := open(t)
	a, b, c := f.titled("a"), f.titled("b"), f.titled("c")
	bad := edited(t, records(t, f.Pool), func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		switch it := m.GetTask(); it.GetTitle() {
		case "a":
			it.DependencyIds = []string{b.ID}
		case "b":
			it.DependencyIds = []string{c.ID}
		case "c":
			it.ParentId = b.ID // and b needs it; no cycle yet
			it.DependencyIds = []string{a.ID}
		}
		return m
	})
	into := open(t)
	e := as[*pool.InvalidError](t, into.refused("INVALID_FIELD", func() error { _, err := into.restore(bad); return err }))
	if text := e.Error(); !strings.Contains(text, "T-1 → T-2 → T-3 → T-1") {
		t.Errorf("got %s", text)
	}
}

func TestRestore_refusesAnExportThatWasCut(t *testing.T) {
	all := records(t, story(t).Pool)
	for _, cut := range [][][]byte{all[:len(all)-1], all[:1], all[:at(t, all, "epic", 0)]} {
		f := open(t)
		e := as[*pool.InvalidError](t, f.refused("INVALID_FIELD", func() error { _, err := f.restore(cut); return err }))
		if e.Violations[0].Field != "records[0].extent" {
			t.Errorf("got %v", e.Violations)
		}
	}
	f := open(t)
	f.refused("INVALID_FIELD", func() error { _, err := f.restore(append(slices.Clone(all), all[0])); return err })
	f.refused("INVALID_FIELD", func() error { _, err := f.restore([][]byte{nil}); return err })
	f.refused("INVALID_FIELD", func() error { _, err := f.restore(append(all[:1:1], all[2])); return err })
}

func TestRestore_refusesWhatComesLater(t *testing.T) {
	all := records(t, story(t).Pool)
	i := at(t, all, "design", 0)
	for field, spoil := range map[string]func(*taskpoolv1.PoolRecord){
		"task.contract": func(m *taskpoolv1.PoolRecord) { m.GetTask().Contract = &taskpoolv1.Contract{} },
		"task.attempts": func(m *taskpoolv1.PoolRecord) { m.GetTask().Attempts = []*taskpoolv1.Attempt{{}} },
		"task.reviewer": func(m *taskpoolv1.PoolRecord) { m.GetTask().Reviewer = task.Human },
		"task.status":   func(m *taskpoolv1.PoolRecord) { m.GetTask().Status = taskpoolv1.TaskStatus_TASK_STATUS_REVIEW },
		"graph": func(m *taskpoolv1.PoolRecord) {
			m.Record = &taskpoolv1.PoolRecord_Graph{Graph: &taskpoolv1.Graph{Id: "tg-1"}}
		},
	} {
		t.Run(field, func(t *testing.T) {
			bad := edited(t, all, func(k int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
				if k == i {
					spoil(m)
				}
				return m
			})
			f := open(t)
			e := as[*pool.LaterError](t, f.refused("NOT_AVAILABLE_YET", func() error { _, err := f.restore(bad); return err }))
			if want := "records[" + strconv.Itoa(i) + "]." + field; e.Field != want {
				t.Errorf("got %s, want %s", e.Field, want)
			}
		})
	}
}

package pool

import (
	"context"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// ImportMode says how records meet what is already there.
type ImportMode uint8

// The modes.
const (
	// ImportMerge creates the tasks that the pool does not have.
	ImportMerge ImportMode = iota
	// ImportRestore makes an empty pool what the records say.
	ImportRestore
)

// Bounds of what is held while records arrive. Of violations, so many are kept of
// one task and of the records as a whole, and not many more of all.
const (
	maxImportRecords    = 2_000_000
	maxImportViolations = 100
)

// Import gathers the records of an export. Nothing happens before Run, which is
// called once, after the last record. One goroutine uses it.
type Import struct {
	pool    *Pool
	mode    ImportMode
	outline *task.Outline
	// records and events count what was added.
	records, events int64
	tasks           []*imported
	// wrong is what is wrong with the records as a whole, and in a restore with
	// any of them; kept counts all violations that are held.
	wrong task.Violations
	kept  int
}

// imported is one task on its way in, or what else can only be refused.
type imported struct {
	// index is the place of its record among all, events that of each event's.
	index  int64
	events []int64
	// task is as the record has it until it was checked; nil for a graph, whose id
	// is in graph.
	task    *task.Task
	graph   string
	history []*task.Event
	thread  []*task.Event
	// wrong names fields from the top: "records[4].task.title". later is the first
	// part of it that this version does not honour.
	wrong task.Violations
	later *LaterError
	// beyond is why the pool's limits would not let it be created, nil when they
	// would.
	beyond *RuleError
	// met is what the pool had under its id when they were compared, differs how
	// that is other, "" when it is not.
	met     *node
	differs string
}

// Import begins to take in records for an actor. Error: *DeniedError where it may
// not.
func (p *Pool) Import(actor string, mode ImportMode) (*Import, error) {
	if mode == ImportRestore && actor != task.Operator {
		return nil, notOperator("restore a pool")
	}
	return &Import{pool: p, mode: mode}, nil
}

// Add takes a record, in the order that Export gave them. wrong is what was found
// to be wrong with it already, with fields named below the record, and later, if
// not nil, the first part of it that this version does not honour. The import
// owns the record from then on. Error: *QuotaError where there are too many.
func (m *Import) Add(r task.Record, wrong task.Violations, later *LaterError) error {
	if m.records == maxImportRecords {
		return &QuotaError{Reason: ReasonBatchTooLarge, Message: fmt.Sprintf(
			"more than %d records in one import; nothing was changed; import fewer at once, dependencies first", maxImportRecords)}
	}
	index := m.records
	m.records++
	if len(wrong) > 0 {
		wrong = wrong.At(record(index))
	}
	if later != nil {
		later = &LaterError{Feature: later.Feature, Field: record(index) + "." + later.Field}
	}
	switch {
	case r.Task != nil:
		t := &imported{index: index, task: r.Task, history: r.History, later: later}
		m.keep(&t.wrong, wrong)
		m.tasks = append(m.tasks, t)
	case r.Event != nil:
		m.events++
		m.addEvent(index, r.Event, wrong, later)
	case r.Outline != nil:
		m.keep(&m.wrong, wrong)
		if m.outline = r.Outline; index > 0 {
			m.reject(index, "pool", "comes after other records: it is the first, and there is one")
		}
	case later != nil:
		m.tasks = append(m.tasks, &imported{index: index, graph: r.Graph, later: later})
	default:
		m.keep(&m.wrong, wrong)
	}
	return nil
}

func (m *Import) addEvent(index int64, e *task.Event, wrong task.Violations, later *LaterError) {
	var t *imported
	if n := len(m.tasks); n > 0 {
		t = m.tasks[n-1]
	}
	if t == nil || t.task == nil {
		m.reject(index, "event", "stands where there is no task before it: an event comes after the task of its thread")
		return
	}
	if e.TaskID != t.task.ID {
		m.reject(index, "event.task_id", "is %q, and the task before it is %q: an event comes after the task of its thread",
			task.Preview(e.TaskID, 64), task.Preview(t.task.ID, 64))
		return
	}
	t.thread, t.events = append(t.thread, e), append(t.events, index)
	m.keep(&t.wrong, wrong)
	if t.later == nil {
		t.later = later
	}
}

// record is the path of a record.
func record(index int64) string { return fmt.Sprintf("records[%d]", index) }

// reject keeps one thing that is wrong with the records as a whole.
func (m *Import) reject(index int64, field, format string, args ...any) {
	var v task.Violations
	v.Add(record(index)+"."+field, format, args...)
	m.keep(&m.wrong, v)
}

// alike stands for what is wrong with a record where enough was said already.
var alike = task.Violations{{Description: "and more is wrong: mend this first"}}

// keep adds violations to a list, which is bounded, as all lists together are.
func (m *Import) keep(list *task.Violations, more task.Violations) {
	room := min(maxImportViolations-len(*list), len(more))
	if m.kept += max(room, 0); m.kept > 100*maxImportViolations && len(more) > 0 && len(*list) == 0 {
		*list = alike
		return
	}
	*list = append(*list, more[:max(room, 0)]...)
}

// Run takes the records in, or refuses them. What of them a merge refuses is part
// of the result.
//
// Errors of both: *InvalidError, which lists everything wrong with the records as
// a whole, *QuotaError for too much at once. A restore refuses what is wrong with
// any record so, and has *LaterError and, for a pool that has tasks, *RuleError.
func (m *Import) Run(ctx context.Context, r Request) (ImportResult, error) {
	m.whole()
	for _, t := range m.tasks {
		m.check(t)
	}
	if m.mode == ImportRestore {
		return m.restore(ctx, r)
	}
	if len(m.wrong) > 0 {
		return ImportResult{}, &InvalidError{Reason: ReasonInvalidField, Violations: m.wrong}
	}
	return m.merge(ctx, r)
}

// whole checks that the records are all that their export gave, where it says so.
// A restore must know.
func (m *Import) whole() {
	if m.outline == nil || m.outline.Extent == nil {
		if m.mode == ImportRestore {
			m.reject(0, "extent", "is absent: a restore begins with the first record of an export, which counts the others; begin with it, or merge")
		}
		return
	}
	x := m.outline.Extent
	if tasks := int64(len(m.tasks)); tasks != x.Tasks || m.events != x.Events {
		m.reject(0, "extent", "counts %d tasks and %d events, and %d and %d came: the export was cut or changed; export again, or merge without this first record",
			x.Tasks, x.Events, tasks, m.events)
	}
}

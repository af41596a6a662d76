package pool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// check finds everything wrong with a task that needs no look at others, and, in
// a merge, whether the pool's limits would let it be created.
func (m *Import) check(t *imported) {
	if t.task == nil {
		return
	}
	read := t.task
	checked, v := task.CheckExported(read, highest)
	if m.mode == ImportRestore {
		checkPast(&v, read)
	}
	t.note(m, t.index, "task", v)
	last := int64(0)
	for i, e := range t.thread {
		v := task.CheckExportedEvent(e, highest)
		if e.ID <= last && e.ID > 0 {
			v.Add("id", "is %d and comes after %d: the ids of a thread increase", e.ID, last)
		}
		last = max(last, e.ID)
		t.note(m, t.events[i], "event", v)
	}
	t.checkHistory(m)
	t.task = checked
	if m.mode == ImportMerge && len(t.wrong) == 0 {
		t.beyond = t.checkLimits(m.pool.limits)
	}
}

// highest are limits that nothing is above which a pool ever took.
var highest = task.HighestLimits()

// checkPast checks what a restored task keeps of its past.
func checkPast(v *task.Violations, t *task.Task) {
	if t.Revision < 1 || t.Revision > task.MaxExported {
		v.Add("revision", "is %d: write the revision in which the task changed last, from 1 to %d, as the export had it", t.Revision, task.MaxExported)
	}
	if t.Version < 1 || t.Version > task.MaxExported {
		v.Add("version", "is %d: write how often members changed the task, from 1 to %d, as the export had it", t.Version, task.MaxExported)
	}
	if t.UpdatedAt.IsZero() {
		v.Add("updated_at", "is absent: write when the task changed last, as the export had it")
	}
}

// note keeps violations of one of the records, but for fields that something was
// said of before.
func (t *imported) note(m *Import, index int64, part string, v task.Violations) {
	if len(v) == 0 {
		return
	}
	v = v.At(record(index) + "." + part)
	v = slices.DeleteFunc(v, func(one task.Violation) bool {
		return slices.ContainsFunc(t.wrong, func(said task.Violation) bool { return said.Field == one.Field })
	})
	m.keep(&t.wrong, v)
}

// checkHistory compares what the task's record says of its progress log with the
// log.
func (t *imported) checkHistory(m *Import) {
	var v task.Violations
	n := 0
	for i, e := range t.thread {
		if e.Kind != task.EventProgress {
			continue
		}
		if n < len(t.history) {
			if h := t.history[n]; !h.At.Equal(e.At) || h.Actor != e.Actor || h.Body != e.Body {
				v.Add(fmt.Sprintf("history[%d]", n), "is another than the event of the kind PROGRESS in %s", record(t.events[i]))
			}
		}
		n++
	}
	if n != len(t.history) {
		v.Add("history", "is not that of the thread: %d here, and there %d of the kind PROGRESS", len(t.history), n)
	}
	t.note(m, t.index, "task", v)
}

// checkLimits is why a task like this can't be created, nil when it can.
func (t *imported) checkLimits(l task.Limits) *RuleError {
	if len(t.task.Dependencies) > l.Dependencies {
		return &RuleError{Reason: ReasonDependenciesExceeded, Message: fmt.Sprintf(
			"dependency_ids: it has %d dependencies; this pool allows %d", len(t.task.Dependencies), l.Dependencies)}
	}
	_, v := task.CheckExported(t.task, l)
	length, count := 0, 0
	for i, e := range t.thread {
		for _, one := range task.CheckExportedEvent(e, l) {
			one.Field = cmp.Or(one.Field, "event")
			v.Add(fmt.Sprintf("thread[%d].%s", i, one.Field), "%s", one.Description)
		}
		if e.Kind == task.EventProgress {
			length, count = length+task.Length(task.HistoryLine(e.At, e.Body)), count+1
		}
	}
	if len(v) > 0 {
		return &RuleError{Reason: ReasonInvalidField, Message: v.Error()}
	}
	if count > 0 && length+count-1 > l.HistoryLength {
		return &RuleError{Reason: ReasonHistoryFull, Message: fmt.Sprintf(
			"history: its progress log has %d characters; this pool allows %d", length+count-1, l.HistoryLength)}
	}
	if len(t.thread) > l.EventsPerTask {
		return &RuleError{Reason: ReasonThreadFull, Message: fmt.Sprintf(
			"its thread has %d events; this pool keeps %d", len(t.thread), l.EventsPerTask)}
	}
	return nil
}

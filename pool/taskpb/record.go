package taskpb

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Record is a piece of an exported pool. The message shares the task's slices
// and maps: it must not be changed.
func Record(r task.Record) *taskpoolv1.PoolRecord {
	switch {
	case r.Outline != nil:
		return outlineRecord(r.Outline)
	case r.Task != nil:
		return &taskpoolv1.PoolRecord{
			Record:          &taskpoolv1.PoolRecord_Task{Task: Detail(r.Task, r.History, nil)},
			AssignedByClaim: r.Task.AssignedByClaim,
		}
	case r.Event != nil:
		return &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Event{Event: Event(r.Event)}}
	}
	return &taskpoolv1.PoolRecord{}
}

func outlineRecord(o *task.Outline) *taskpoolv1.PoolRecord {
	m := &taskpoolv1.Pool{Name: o.Name, Limits: Limits(o.Limits)}
	m.EditRule, m.ReviewDefault = Rules(o.Rules)
	r := &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Pool{Pool: m}}
	if x := o.Extent; x != nil {
		r.Extent = &taskpoolv1.PoolExtent{Tasks: x.Tasks, Events: x.Events, LastTaskNumber: x.LastNumber, LastEventId: x.LastEvent}
	}
	return r
}

// ReadRecord reads a piece of an exported pool. The violations are what a
// [task.Record] can't hold, with fields named as within PoolRecord; it does not
// check what [task.CheckExported] and [task.CheckExportedEvent] check. The error
// is a *[LaterError]; what could be read of the record comes with it. A record
// without any piece has violations. The record takes over the message's slices
// and maps, which must not be used any more.
func ReadRecord(m *taskpoolv1.PoolRecord) (task.Record, task.Violations, error) {
	var v task.Violations
	var r task.Record
	var later error
	switch piece := m.GetRecord().(type) {
	case *taskpoolv1.PoolRecord_Pool:
		r.Outline = readOutline(&v, piece.Pool, m.GetExtent())
	case *taskpoolv1.PoolRecord_Graph:
		r.Graph = piece.Graph.GetId()
		later = &LaterError{Feature: featureGraphs, Field: "graph"}
	case *taskpoolv1.PoolRecord_Task:
		r.Task, r.History = readTask(&v, piece.Task)
		r.Task.AssignedByClaim = m.GetAssignedByClaim()
		later = laterInTask(piece.Task)
	case *taskpoolv1.PoolRecord_Event:
		r.Event = readEvent(&v, piece.Event)
		later = laterInEvent(piece.Event)
	default:
		v.Add("", "is empty: a record has a pool, a graph, a task or an event")
	}
	if m.GetExtent() != nil && r.Outline == nil {
		v.Add("extent", "stands only beside pool: leave it out")
	}
	if m.GetAssignedByClaim() && r.Task == nil {
		v.Add("assigned_by_claim", "stands only beside task: leave it out")
	}
	return r, v, later
}

// readOutline reads the first record. Limits and settings are told for people:
// those of the pool that takes records in stay.
func readOutline(v *task.Violations, m *taskpoolv1.Pool, x *taskpoolv1.PoolExtent) *task.Outline {
	o := &task.Outline{Name: m.GetName(), Limits: task.ResolveLimits(LimitOptions(m.GetLimits()), nil)}
	var found task.Violations
	o.Rules = ReadRules(&found, m.GetEditRule(), m.GetReviewDefault())
	*v = append(*v, found.At("pool")...)
	if m.GetEpoch() != "" || m.GetCursor() != "" || m.GetCounts() != nil || m.GetIdentity() != 0 || m.GetCreatedAt() != nil {
		v.Add("pool", "has more than name, limits and settings: leave the rest out")
	}
	if x == nil {
		return o
	}
	o.Extent = &task.Extent{Tasks: x.GetTasks(), Events: x.GetEvents(), LastNumber: x.GetLastTaskNumber(), LastEvent: x.GetLastEventId()}
	checkMark(v, "extent.last_task_number", o.Extent.LastNumber)
	checkMark(v, "extent.last_event_id", o.Extent.LastEvent)
	return o
}

func checkMark(v *task.Violations, field string, n int64) {
	if n < 0 || n > task.MaxExported {
		v.Add(field, "is %d, which no pool ever gave: write one from 0 to %d, as the export had it", n, task.MaxExported)
	}
}

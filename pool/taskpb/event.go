package taskpb

import (
	"errors"
	"fmt"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Event is a row of a thread for a caller. A detail that is not one of the
// event's kind, which no pool makes, is left out.
func Event(e *task.Event) *taskpoolv1.TaskEvent {
	m := eventHead(e)
	_ = setDetail(m, e) // nothing is set then
	return m
}

func eventMessage(e *task.Event) (*taskpoolv1.TaskEvent, error) {
	m := eventHead(e)
	return m, setDetail(m, e)
}

func eventHead(e *task.Event) *taskpoolv1.TaskEvent {
	return &taskpoolv1.TaskEvent{
		Id: e.ID, TaskId: e.TaskID, At: instant(e.At), Actor: e.Actor,
		Kind: taskpoolv1.TaskEventKind(e.Kind), Body: e.Body,
	}
}

// detailKind is the kind of event that a detail belongs to.
func detailKind(detail any) task.EventKind {
	switch detail.(type) {
	case task.CreatedDetail:
		return task.EventCreated
	case task.ClaimedDetail:
		return task.EventClaimed
	case task.HoldExpiredDetail:
		return task.EventHoldExpired
	case task.ReleasedDetail:
		return task.EventReleased
	case task.StatusDetail:
		return task.EventStatus
	case task.AssignedDetail:
		return task.EventAssigned
	case task.SubtaskDetail:
		return task.EventSubtask
	case task.EditedDetail:
		return task.EventEdited
	case task.DependencyDetail:
		return task.EventDependency
	case task.ImportedDetail:
		return task.EventImported
	}
	return task.EventUnspecified
}

// setDetail sets the message's detail. The kinds whose detail says nothing have
// it set all the same, so that it always tells the kind.
func setDetail(m *taskpoolv1.TaskEvent, e *task.Event) error {
	if e.Detail == nil {
		switch e.Kind {
		case task.EventComment:
			m.Detail = &taskpoolv1.TaskEvent_Comment{Comment: &taskpoolv1.CommentDetail{}}
		case task.EventProgress:
			m.Detail = &taskpoolv1.TaskEvent_Progress{Progress: &taskpoolv1.ProgressDetail{}}
		}
		return nil
	}
	if detailKind(e.Detail) != e.Kind {
		return fmt.Errorf("it is of the kind %s and has a %T", e.Kind, e.Detail)
	}
	switch d := e.Detail.(type) {
	case task.CreatedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{Title: d.Title, ParentId: d.ParentID, DiscoveredFromId: d.DiscoveredFrom}}
	case task.ClaimedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Holder: d.Holder, Lease: span(d.Lease), RunId: d.RunID}}
	case task.HoldExpiredDetail:
		m.Detail = &taskpoolv1.TaskEvent_HoldExpired{HoldExpired: &taskpoolv1.HoldExpiredDetail{
			Holder: d.Holder, HeldAt: instant(d.HeldAt), Lease: span(d.Lease), RunId: d.RunID, ExpiredInARow: int32(d.InARow),
		}}
	case task.ReleasedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{Holder: d.Holder, Reason: d.Reason}}
	case task.StatusDetail:
		m.Detail = &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{
			From: Status(d.From), To: Status(d.To), Reason: d.Reason, Forced: d.Forced,
			OpenChildIds: d.OpenChildren, UnfinishedDependencyIds: d.Unfinished,
		}}
	case task.AssignedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Assigned{Assigned: &taskpoolv1.AssignedDetail{From: d.From, To: d.To}}
	case task.SubtaskDetail:
		m.Detail = &taskpoolv1.TaskEvent_Subtask{Subtask: &taskpoolv1.SubtaskDetail{ChildId: d.ChildID, Kind: taskpoolv1.SubtaskKind(d.Change)}}
	case task.EditedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Edited{Edited: &taskpoolv1.EditedDetail{Fields: d.Fields, SetLabels: d.SetLabels, RemovedLabels: d.RemovedLabels}}
	case task.DependencyDetail:
		m.Detail = &taskpoolv1.TaskEvent_Dependency{Dependency: &taskpoolv1.DependencyDetail{AddedIds: d.Added, RemovedIds: d.Removed, GivenUpId: d.GivenUp}}
	case task.ImportedDetail:
		m.Detail = &taskpoolv1.TaskEvent_Imported{Imported: &taskpoolv1.ImportedDetail{Key: d.Key}}
	}
	return nil
}

func eventOf(m *taskpoolv1.TaskEvent) (*task.Event, error) {
	if len(m.ProtoReflect().GetUnknown()) > 0 || m.GetVia() != "" || m.GetRedacted() {
		return nil, errNewer
	}
	e := &task.Event{
		ID: m.GetId(), TaskID: shared(m.GetTaskId()), Actor: shared(m.GetActor()), Body: m.GetBody(),
	}
	if k := m.GetKind(); k > 0 && k <= taskpoolv1.TaskEventKind(task.EventImported) {
		e.Kind = task.EventKind(k)
	} else {
		return nil, fmt.Errorf("it has the kind %d", k)
	}
	var err error
	if e.At, err = timeOf(m.GetAt()); err != nil {
		return nil, err
	}
	if m.GetDetail() == nil {
		return e, nil
	}
	if e.Detail, err = detailOf(m); err != nil {
		return nil, err
	}
	if e.Detail != nil && detailKind(e.Detail) != e.Kind {
		return nil, fmt.Errorf("it is of the kind %s and has a %T", e.Kind, e.Detail)
	}
	return e, nil
}

// detailOf reads the detail that is set; nil for the kinds whose detail says
// nothing.
func detailOf(m *taskpoolv1.TaskEvent) (any, error) {
	switch d := m.GetDetail().(type) {
	case *taskpoolv1.TaskEvent_Comment:
		return nothing(m, taskpoolv1.TaskEventKind_TASK_EVENT_KIND_COMMENT, d.Comment.ProtoReflect().GetUnknown())
	case *taskpoolv1.TaskEvent_Progress:
		return nothing(m, taskpoolv1.TaskEventKind_TASK_EVENT_KIND_PROGRESS, d.Progress.ProtoReflect().GetUnknown())
	case *taskpoolv1.TaskEvent_Created:
		c := d.Created
		return known(c.ProtoReflect().GetUnknown(), task.CreatedDetail{Title: c.GetTitle(), ParentID: shared(c.GetParentId()), DiscoveredFrom: shared(c.GetDiscoveredFromId())})
	case *taskpoolv1.TaskEvent_Claimed:
		return claimedOf(d.Claimed)
	case *taskpoolv1.TaskEvent_HoldExpired:
		return holdExpiredOf(d.HoldExpired)
	case *taskpoolv1.TaskEvent_Released:
		r := d.Released
		return known(r.ProtoReflect().GetUnknown(), task.ReleasedDetail{Holder: shared(r.GetHolder()), Reason: r.GetReason()})
	case *taskpoolv1.TaskEvent_Status:
		return statusDetailOf(d.Status)
	case *taskpoolv1.TaskEvent_Assigned:
		a := d.Assigned
		return known(a.ProtoReflect().GetUnknown(), task.AssignedDetail{From: shared(a.GetFrom()), To: shared(a.GetTo())})
	case *taskpoolv1.TaskEvent_Subtask:
		s := d.Subtask
		if k := s.GetKind(); k < 0 || k > taskpoolv1.SubtaskKind(task.SubtasksAllClosed) {
			return nil, fmt.Errorf("it tells of the change %d among children", k)
		}
		return known(s.ProtoReflect().GetUnknown(), task.SubtaskDetail{ChildID: shared(s.GetChildId()), Change: task.SubtaskChange(s.GetKind())})
	case *taskpoolv1.TaskEvent_Edited:
		x := d.Edited
		return known(x.ProtoReflect().GetUnknown(), task.EditedDetail{
			Fields: sharedAll(x.GetFields()), SetLabels: sharedAll(x.GetSetLabels()), RemovedLabels: sharedAll(x.GetRemovedLabels()),
		})
	case *taskpoolv1.TaskEvent_Dependency:
		x := d.Dependency
		return known(x.ProtoReflect().GetUnknown(), task.DependencyDetail{
			Added: sharedAll(x.GetAddedIds()), Removed: sharedAll(x.GetRemovedIds()), GivenUp: shared(x.GetGivenUpId()),
		})
	case *taskpoolv1.TaskEvent_Imported:
		x := d.Imported
		return known(x.ProtoReflect().GetUnknown(), task.ImportedDetail{Key: x.GetKey()})
	}
	return nil, errNewer
}

func known(unknown []byte, detail any) (any, error) {
	if len(unknown) > 0 {
		return nil, errNewer
	}
	return detail, nil
}

func nothing(m *taskpoolv1.TaskEvent, kind taskpoolv1.TaskEventKind, unknown []byte) (any, error) {
	if m.GetKind() != kind {
		return nil, errors.New("its detail is not of its kind")
	}
	return known(unknown, nil)
}

func claimedOf(c *taskpoolv1.ClaimedDetail) (any, error) {
	if c.GetAttempt() != 0 || c.GetForReview() {
		return nil, errNewer
	}
	lease, err := durationOf(c.GetLease())
	if err != nil {
		return nil, err
	}
	return known(c.ProtoReflect().GetUnknown(), task.ClaimedDetail{Holder: shared(c.GetHolder()), Lease: lease, RunID: c.GetRunId()})
}

func holdExpiredOf(x *taskpoolv1.HoldExpiredDetail) (any, error) {
	if x.GetAttempt() != 0 {
		return nil, errNewer
	}
	lease, err := durationOf(x.GetLease())
	if err != nil {
		return nil, err
	}
	at, err := timeOf(x.GetHeldAt())
	if err != nil {
		return nil, err
	}
	if x.GetExpiredInARow() < 0 {
		return nil, fmt.Errorf("it counts %d holds", x.GetExpiredInARow())
	}
	return known(x.ProtoReflect().GetUnknown(), task.HoldExpiredDetail{
		Holder: shared(x.GetHolder()), HeldAt: at, Lease: lease, RunID: x.GetRunId(), InARow: int(x.GetExpiredInARow()),
	})
}

func statusDetailOf(s *taskpoolv1.StatusDetail) (any, error) {
	if s.GetGivenUpDependencyId() != "" {
		return nil, errNewer
	}
	from, okFrom := statusOf(s.GetFrom())
	to, okTo := statusOf(s.GetTo())
	if !okFrom && s.GetFrom() != 0 || !okTo && s.GetTo() != 0 {
		return nil, fmt.Errorf("it tells of a move from %d to %d", s.GetFrom(), s.GetTo())
	}
	return known(s.ProtoReflect().GetUnknown(), task.StatusDetail{
		From: from, To: to, Reason: s.GetReason(), Forced: s.GetForced(),
		OpenChildren: sharedAll(s.GetOpenChildIds()), Unfinished: sharedAll(s.GetUnfinishedDependencyIds()),
	})
}

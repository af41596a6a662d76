package taskpb

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// readTask reads a task as far as it can be read.
func readTask(v *task.Violations, m *taskpoolv1.Task) (*task.Task, []*task.Event) {
	var found task.Violations
	t := &task.Task{
		ID: shared(m.GetId()), Title: m.GetTitle(), Brief: briefOf(m), Labels: labelsOf(m.GetLabels()),
		Status: readStanding(&found, "status", m.GetStatus()), Priority: ReadPriority(&found, "priority", m.GetPriority()),
		Type:         ReadType(&found, "type", m.GetType()),
		Dependencies: sharedAll(m.GetDependencyIds()), Unfinished: sharedAll(m.GetUnfinishedDependencyIds()),
		HistoryCount: int(m.GetHistoryCount()),
		Assignee:     shared(m.GetAssignee()), CreatedBy: shared(m.GetCreatedBy()),
		ParentID: shared(m.GetParentId()), Depth: int(m.GetDepth()),
		ChildrenTotal: int(m.GetChildrenTotal()), ChildrenDone: int(m.GetChildrenDone()),
		Holder: shared(m.GetHolder()), BlockedReason: m.GetBlockedReason(),
		Revision: m.GetRevision(), Version: m.GetVersion(), DiscoveredFrom: shared(m.GetDiscoveredFromId()),
	}
	var err error
	if t.Number, err = numberOf(m.GetKey()); err != nil {
		found.Add("key", "is %q: a record has a key as in T-12", task.Preview(m.GetKey(), 64))
	}
	for _, at := range []struct {
		field string
		m     *timestamppb.Timestamp
		to    *time.Time
	}{
		{"created_at", m.GetCreatedAt(), &t.CreatedAt},
		{"updated_at", m.GetUpdatedAt(), &t.UpdatedAt},
		{"closed_at", m.GetClosedAt(), &t.ClosedAt},
		{"held_at", m.GetHeldAt(), &t.HeldAt},
		{"not_before", m.GetNotBefore(), &t.NotBefore},
	} {
		*at.to = readStored(&found, at.field, at.m)
	}
	if t.Lease, err = durationOf(m.GetLease()); err != nil {
		found.Add("lease", "can't be kept: %v", err)
	}
	const notHere = "is not part of a record: leave it out"
	if len(m.GetDependentIds()) > 0 {
		found.Add("dependent_ids", notHere)
	}
	if m.GetHoldExpiresAt() != nil {
		found.Add("hold_expires_at", notHere)
	}
	history := readHistory(&found, m.GetHistory())
	*v = append(*v, found.At("task")...)
	return t, history
}

func readHistory(v *task.Violations, entries []*taskpoolv1.ProgressEntry) []*task.Event {
	history := make([]*task.Event, len(entries))
	for i, m := range entries {
		history[i] = &task.Event{
			Kind: task.EventProgress, At: readStored(v, fmt.Sprintf("history[%d].at", i), m.GetAt()), Actor: shared(m.GetActor()), Body: m.GetText(),
		}
	}
	return history
}

// laterInTask names the first field whose part of the API comes later.
func laterInTask(m *taskpoolv1.Task) error {
	for _, f := range []struct {
		there          bool
		field, feature string
	}{
		{m.GetGraphId() != "", "graph_id", featureGraphs},
		{m.GetGraphTaskId() != "", "graph_task_id", featureGraphs},
		{m.GetPhase() != "", "phase", featureGraphs},
		{m.GetContract() != nil, "contract", featureContracts},
		{len(m.GetAttempts()) > 0, "attempts", featureContracts},
		{m.GetAttemptCount() != 0, "attempt_count", featureContracts},
		{m.GetCost() != nil, "cost", featureContracts},
		{m.GetStatus() == taskpoolv1.TaskStatus_TASK_STATUS_REVIEW, "status", featureReview},
		{m.GetReviewer() != "", "reviewer", featureReview},
		{m.GetResult() != "", "result", featureReview},
		{m.GetSubmission() != 0, "submission", featureReview},
		{m.GetLastVerdict() != 0, "last_verdict", featureReview},
	} {
		if f.there {
			return &LaterError{Feature: f.feature, Field: "task." + f.field}
		}
	}
	return nil
}

// readStanding reads the status of a task in a record; that there is none is
// found by those who check.
func readStanding(v *task.Violations, field string, m taskpoolv1.TaskStatus) task.Status {
	s, ok := statusOf(m)
	if !ok && m != taskpoolv1.TaskStatus_TASK_STATUS_UNSPECIFIED {
		v.Add(field, "has the unknown value %d: use pending, ready, in_progress, blocked, done, cancelled or failed", m)
	}
	return s
}

// readStored reads an instant of a record; absent is the zero time.
func readStored(v *task.Violations, field string, m *timestamppb.Timestamp) time.Time {
	at, err := timeOf(m)
	if err != nil {
		v.Add(field, "is no instant: give one within the years 1 to 9999, the first moment of the year 1 apart")
		return time.Time{}
	}
	return at
}

package taskpb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// full is a task as the feed carries it. The message shares the task's slices
// and maps.
func full(t *task.Task) *taskpoolv1.Task {
	b := t.Brief.Unpack()
	return &taskpoolv1.Task{
		Id:                      t.ID,
		Key:                     t.Key(),
		Title:                   t.Title,
		Status:                  Status(t.Status),
		Priority:                taskpoolv1.TaskPriority(t.Priority),
		Assignee:                t.Assignee,
		Holder:                  t.Holder,
		Revision:                t.Revision,
		Version:                 t.Version,
		UpdatedAt:               instant(t.UpdatedAt),
		DependencyIds:           t.Dependencies,
		UnfinishedDependencyIds: t.Unfinished,
		CreatedAt:               instant(t.CreatedAt),
		CreatedBy:               t.CreatedBy,
		Labels:                  t.Labels,
		Type:                    taskpoolv1.TaskType(t.Type),
		Description:             b.Description,
		Body:                    b.Body,
		AcceptanceCriteria:      b.AcceptanceCriteria,
		Links:                   b.Links,
		Steps:                   b.Steps,
		Constraints:             b.Constraints,
		OutOfScope:              b.OutOfScope,
		Verification:            b.Verification,
		Context:                 b.Context,
		EdgeCases:               b.EdgeCases,
		HistoryCount:            int32(t.HistoryCount),
		Reviewer:                t.Reviewer,
		ParentId:                t.ParentID,
		Depth:                   int32(t.Depth),
		ChildrenTotal:           int32(t.ChildrenTotal),
		ChildrenDone:            int32(t.ChildrenDone),
		HeldAt:                  instant(t.HeldAt),
		Lease:                   span(t.Lease),
		BlockedReason:           t.BlockedReason,
		ClosedAt:                instant(t.ClosedAt),
		NotBefore:               instant(t.NotBefore),
		DiscoveredFromId:        t.DiscoveredFrom,
		Result:                  t.Result,
		Submission:              t.Submission,
	}
}

// taskOf reads a task as the feed carries it, taking over the message's slices
// and maps.
func taskOf(m *taskpoolv1.Task) (*task.Task, error) {
	if beyond(m) {
		return nil, errNewer
	}
	number, err := numberOf(m.GetKey())
	if err != nil {
		return nil, err
	}
	if r, ok := task.ParseReference(m.GetId()); !ok || r.Kind != task.ReferenceID || r.ID != m.GetId() {
		return nil, errors.New("its id is no UUID")
	}
	t := &task.Task{
		ID: shared(m.GetId()), Number: number, Title: m.GetTitle(), Brief: briefOf(m), Labels: labelsOf(m.GetLabels()),
		Dependencies: sharedAll(m.GetDependencyIds()), Unfinished: sharedAll(m.GetUnfinishedDependencyIds()),
		HistoryCount: int(m.GetHistoryCount()),
		Assignee:     shared(m.GetAssignee()), CreatedBy: shared(m.GetCreatedBy()), Reviewer: shared(m.GetReviewer()),
		ParentID: shared(m.GetParentId()), Depth: int(m.GetDepth()),
		ChildrenTotal: int(m.GetChildrenTotal()), ChildrenDone: int(m.GetChildrenDone()),
		Holder: shared(m.GetHolder()), BlockedReason: m.GetBlockedReason(),
		Revision: m.GetRevision(), Version: m.GetVersion(),
		DiscoveredFrom: shared(m.GetDiscoveredFromId()), Result: m.GetResult(), Submission: m.GetSubmission(),
	}
	if min(t.HistoryCount, t.Depth, t.ChildrenTotal, t.ChildrenDone, int(t.Submission)) < 0 {
		return nil, errors.New("one of its counts is negative")
	}
	if err := readEnums(t, m); err != nil {
		return nil, err
	}
	return t, readTimes(t, m)
}

func readEnums(t *task.Task, m *taskpoolv1.Task) error {
	var ok bool
	if t.Status, ok = statusOf(m.GetStatus()); !ok {
		return fmt.Errorf("it has the status %d", m.GetStatus())
	}
	if t.Priority, ok = priorityOf(m.GetPriority()); !ok {
		return fmt.Errorf("it has the priority %d", m.GetPriority())
	}
	if t.Type, ok = typeOf(m.GetType()); !ok {
		return fmt.Errorf("it has the type %d", m.GetType())
	}
	return nil
}

func readTimes(t *task.Task, m *taskpoolv1.Task) error {
	var all [6]error
	t.CreatedAt, all[0] = timeOf(m.GetCreatedAt())
	t.UpdatedAt, all[1] = timeOf(m.GetUpdatedAt())
	t.ClosedAt, all[2] = timeOf(m.GetClosedAt())
	t.HeldAt, all[3] = timeOf(m.GetHeldAt())
	t.NotBefore, all[4] = timeOf(m.GetNotBefore())
	t.Lease, all[5] = durationOf(m.GetLease())
	return errors.Join(all[:]...)
}

// beyond says whether a stored task has what this version can't keep.
func beyond(m *taskpoolv1.Task) bool {
	return len(m.ProtoReflect().GetUnknown()) > 0 ||
		len(m.GetHistory()) > 0 || len(m.GetDependentIds()) > 0 || m.GetHoldExpiresAt() != nil ||
		m.GetGraphId() != "" || m.GetGraphTaskId() != "" || m.GetPhase() != "" || m.GetContract() != nil ||
		len(m.GetAttempts()) > 0 || m.GetAttemptCount() != 0 || m.GetLastVerdict() != 0 || m.GetCost() != nil
}

// numberOf reads a key, "T-12".
func numberOf(key string) (int64, error) {
	digits, ok := strings.CutPrefix(key, "T-")
	number, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || number < 1 || task.Key(number) != key {
		return 0, fmt.Errorf("its key %q is none", task.Preview(key, 64))
	}
	return number, nil
}

func briefOf(m *taskpoolv1.Task) task.PackedBrief {
	b := task.Brief{
		Description:        m.GetDescription(),
		Body:               m.GetBody(),
		AcceptanceCriteria: m.GetAcceptanceCriteria(),
		Links:              m.GetLinks(),
		Steps:              m.GetSteps(),
		Constraints:        m.GetConstraints(),
		OutOfScope:         m.GetOutOfScope(),
		Verification:       m.GetVerification(),
		Context:            m.GetContext(),
		EdgeCases:          m.GetEdgeCases(),
	}
	return b.Pack()
}

func labelsOf(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	labels := make(map[string]string, len(m))
	for k, v := range m {
		labels[shared(k)] = v
	}
	return labels
}

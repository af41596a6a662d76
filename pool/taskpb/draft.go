package taskpb

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// LaterError says that a request asks for a part of the API that this version does not
// honour, and so refuses.
type LaterError struct {
	// Feature names the part: "review", "contracts". Field asked for it.
	Feature, Field string
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("%s: %s: not available in this version; leave the field out", e.Field, e.Feature)
}

// The parts of the API that come later.
const (
	featureReview    = "review"
	featureContracts = "contracts"
	featureGraphs    = "graphs"
	featureRedaction = "redaction"
	featureRunners   = "runners"
)

// Draft reads a new task. It does not check what [task.Draft.Check] checks; the
// violations are what a Draft can't hold. Fields are named as within NewTask.
// The draft shares the message's slices and maps. The error is a *[LaterError].
func Draft(m *taskpoolv1.NewTask) (task.Draft, task.Violations, error) {
	var v task.Violations
	switch {
	case m.GetContract() != nil:
		return task.Draft{}, nil, &LaterError{Feature: featureContracts, Field: "contract"}
	case m.GetReviewer() != "":
		return task.Draft{}, nil, &LaterError{Feature: featureReview, Field: "reviewer"}
	}
	d := task.Draft{
		Title:              m.GetTitle(),
		Description:        m.GetDescription(),
		Body:               m.GetBody(),
		AcceptanceCriteria: m.GetAcceptanceCriteria(),
		Priority:           ReadPriority(&v, "priority", m.GetPriority()),
		Type:               ReadType(&v, "type", m.GetType()),
		Links:              m.GetLinks(),
		Steps:              m.GetSteps(),
		Constraints:        m.GetConstraints(),
		OutOfScope:         m.GetOutOfScope(),
		Verification:       m.GetVerification(),
		Context:            m.GetContext(),
		EdgeCases:          m.GetEdgeCases(),
		Labels:             m.GetLabels(),
		NotBefore:          readInstant(&v, "not_before", m.GetNotBefore()),
		DiscoveredFrom:     m.GetDiscoveredFromId(),
		Dependencies:       m.GetDependencyIds(),
		Assignee:           m.GetAssignee(),
		Parent:             m.GetParentId(),
		Ref:                m.GetRef(),
	}
	return d, v, nil
}

// Patch reads what an update changes. It does not check what [task.Patch.Check]
// checks; the violations are what a Patch can't hold. The patch shares the
// message's slices and maps. The error is a *[LaterError].
func Patch(m *taskpoolv1.UpdateTaskRequest) (task.Patch, task.Violations, error) {
	if m.GetReviewer() != "" { // empty asks for no review, and there is none
		return task.Patch{}, nil, &LaterError{Feature: featureReview, Field: "reviewer"}
	}
	var v task.Violations
	p := task.Patch{
		Title:              m.Title,
		Description:        m.Description,
		Body:               m.Body,
		AcceptanceCriteria: listOf(m.GetAcceptanceCriteria()),
		Links:              listOf(m.GetLinks()),
		Steps:              listOf(m.GetSteps()),
		Constraints:        listOf(m.GetConstraints()),
		OutOfScope:         listOf(m.GetOutOfScope()),
		Verification:       listOf(m.GetVerification()),
		Context:            listOf(m.GetContext()),
		EdgeCases:          listOf(m.GetEdgeCases()),
		SetLabels:          m.GetSetLabels(),
		RemoveLabels:       m.GetRemoveLabels(),
		AddDependencies:    m.GetAddDependencyIds(),
		RemoveDependencies: m.GetRemoveDependencyIds(),
		Assignee:           m.Assignee,
		Parent:             m.ParentId,
		Reason:             m.GetReason(),
		Force:              m.GetForce(),
	}
	if m.Priority != nil {
		p.Priority = new(ReadPriority(&v, "priority", m.GetPriority()))
	}
	if m.Type != nil {
		p.Type = new(ReadType(&v, "type", m.GetType()))
	}
	if m.Status != nil {
		p.Status = readTarget(&v, m.GetStatus())
	}
	if m.NotBefore != nil {
		p.NotBefore = new(readInstant(&v, "not_before", m.GetNotBefore()))
	}
	if m.GetHistoryEntry() != "" {
		p.HistoryEntry = new(m.GetHistoryEntry())
	}
	return p, v, nil
}

func listOf(m *taskpoolv1.StringList) *[]string {
	if m == nil {
		return nil
	}
	return new(m.GetValues())
}

// readTarget reads the status that a task is to be set to. Which of them can be
// set is for the pool to say.
func readTarget(v *task.Violations, s taskpoolv1.TaskStatus) *task.Status {
	status, ok := statusOf(s)
	switch {
	case s == taskpoolv1.TaskStatus_TASK_STATUS_UNSPECIFIED:
		v.Add("status", "is present and unspecified: use ready, in_progress, review, blocked, done or cancelled, or leave it out")
		return nil
	case !ok:
		v.Add("status", "has the unknown value %d: use ready, in_progress, review, blocked, done or cancelled", s)
		return nil
	}
	return &status
}

// ReadStatus reads a status that a request selects by.
func ReadStatus(v *task.Violations, field string, m taskpoolv1.TaskStatus) task.Status {
	s, ok := statusOf(m)
	switch {
	case m == taskpoolv1.TaskStatus_TASK_STATUS_UNSPECIFIED:
		v.Add(field, "is unspecified: no task is; leave it out, or name a status")
	case !ok:
		v.Add(field, "has the unknown value %d: use pending, ready, in_progress, review, blocked, done, cancelled or failed", m)
	}
	return s
}

// ReadPriority reads a priority of a request; unspecified is none.
func ReadPriority(v *task.Violations, field string, m taskpoolv1.TaskPriority) task.Priority {
	p, ok := priorityOf(m)
	if !ok {
		v.Add(field, "has the unknown value %d: use low, medium or high, or leave it out", m)
	}
	return p
}

// ReadType reads a type of a request; unspecified is none.
func ReadType(v *task.Violations, field string, m taskpoolv1.TaskType) task.Type {
	t, ok := typeOf(m)
	if !ok {
		v.Add(field, "has the unknown value %d: use feature, bug, refactor, chore or research, or leave it out", m)
	}
	return t
}

// readInstant reads an instant of a request. Absent and the epoch, which is a
// Timestamp with nothing set, are none: the zero time.
func readInstant(v *task.Violations, field string, m *timestamppb.Timestamp) time.Time {
	if m == nil || m.GetSeconds() == 0 && m.GetNanos() == 0 {
		return time.Time{}
	}
	if err := m.CheckValid(); err != nil {
		v.Add(field, "is no instant: give seconds within the years 1 to 9999, and nanos from 0 to 999,999,999")
		return time.Time{}
	}
	if m.AsTime().IsZero() {
		v.Add(field, "is the first instant of the year 1: leave it out for none")
	}
	return m.AsTime()
}

package pool

import (
	"maps"
	"reflect"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// differences names what of an imported task is other than in the pool, by the
// names of the API; none when the two have the same content. What is the pool's
// own does not count: key, revision, version, updated_at, event ids, and all that
// is derived.
func differences(n *node, in *imported) []string {
	have, want := n.task, in.task
	brief, other := have.Brief.Unpack(), want.Brief.Unpack()
	var fields []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"title", have.Title == want.Title},
		{"description", brief.Description == other.Description},
		{"body", brief.Body == other.Body},
		{"acceptance_criteria", slices.Equal(brief.AcceptanceCriteria, other.AcceptanceCriteria)},
		{"links", slices.Equal(brief.Links, other.Links)},
		{"steps", slices.Equal(brief.Steps, other.Steps)},
		{"constraints", slices.Equal(brief.Constraints, other.Constraints)},
		{"out_of_scope", slices.Equal(brief.OutOfScope, other.OutOfScope)},
		{"verification", slices.Equal(brief.Verification, other.Verification)},
		{"context", slices.Equal(brief.Context, other.Context)},
		{"edge_cases", slices.Equal(brief.EdgeCases, other.EdgeCases)},
		{"priority", have.Priority == want.Priority},
		{"type", have.Type == want.Type},
		{"labels", maps.Equal(have.Labels, want.Labels)},
		{"status", have.Status == want.Status || have.Status.Open() && want.Status.Open()},
		{"dependency_ids", slices.Equal(have.Dependencies, want.Dependencies)},
		{"parent_id", have.ParentID == want.ParentID},
		{"discovered_from_id", have.DiscoveredFrom == want.DiscoveredFrom},
		{"assignee", have.Assignee == want.Assignee},
		{"assigned_by_claim", have.AssignedByClaim == want.AssignedByClaim},
		{"holder", have.Holder == want.Holder},
		{"held_at", have.HeldAt.Equal(want.HeldAt)},
		{"blocked_reason", have.BlockedReason == want.BlockedReason},
		{"not_before", have.NotBefore.Equal(want.NotBefore)},
		{"created_by", have.CreatedBy == want.CreatedBy},
		{"created_at", have.CreatedAt.Equal(want.CreatedAt)},
		{"closed_at", have.ClosedAt.Equal(want.ClosedAt)},
		{"thread", sameThread(n.thread, in.thread)},
	} {
		if !f.same {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// sameThread compares what members did to a task.
func sameThread(have, want []*task.Event) bool {
	for {
		have, want = toOwn(have), toOwn(want)
		if len(have) == 0 || len(want) == 0 {
			return len(have) == len(want)
		}
		if !sameEvent(have[0], want[0]) {
			return false
		}
		have, want = have[1:], want[1:]
	}
}

// toOwn skips events that tell what followed from elsewhere: from other tasks,
// from time, from an import.
func toOwn(thread []*task.Event) []*task.Event {
	for len(thread) > 0 {
		e := thread[0]
		if e.Actor != task.SystemPool && e.Kind != task.EventSubtask && e.Kind != task.EventImported {
			break
		}
		thread = thread[1:]
	}
	return thread
}

func sameEvent(a, b *task.Event) bool {
	return a.Kind == b.Kind && a.Actor == b.Actor && a.At.Equal(b.At) && a.Body == b.Body && sameDetail(a.Detail, b.Detail)
}

// sameDetail compares details; a list may be nil or empty.
func sameDetail(a, b any) bool {
	switch a := a.(type) {
	case task.StatusDetail:
		b, ok := b.(task.StatusDetail)
		return ok && a.From == b.From && a.To == b.To && a.Reason == b.Reason && a.Forced == b.Forced &&
			slices.Equal(a.OpenChildren, b.OpenChildren) && slices.Equal(a.Unfinished, b.Unfinished)
	case task.EditedDetail:
		b, ok := b.(task.EditedDetail)
		return ok && slices.Equal(a.Fields, b.Fields) && slices.Equal(a.SetLabels, b.SetLabels) && slices.Equal(a.RemovedLabels, b.RemovedLabels)
	case task.DependencyDetail:
		b, ok := b.(task.DependencyDetail)
		return ok && slices.Equal(a.Added, b.Added) && slices.Equal(a.Removed, b.Removed) && a.GivenUp == b.GivenUp
	}
	return reflect.DeepEqual(a, b)
}

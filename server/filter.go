package server

import (
	"fmt"
	"slices"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// maxFilterLabels bounds what each task of a listing is compared with.
const maxFilterLabels = 1000

// filterOf reads what to list. Names in it are for the pool to resolve.
func filterOf(m *taskpoolv1.TaskFilter) (pool.Filter, task.Violations, error) {
	switch {
	case m.GetGraphId() != "":
		return pool.Filter{}, nil, &pool.LaterError{Feature: "graphs", Field: "filter.graph_id"}
	case m.GetAgent() != "":
		return pool.Filter{}, nil, &pool.LaterError{Feature: "contracts", Field: "filter.agent"}
	}
	var v task.Violations
	f := pool.Filter{
		IncludeClosed: m.GetIncludeClosed(), Available: m.GetAvailable(), Claimable: m.GetClaimable(),
		Assignee: m.GetAssignee(), Unassigned: m.GetUnassigned(), Holder: m.GetHolder(), Reviewer: m.GetReviewer(),
		CreatedBy: m.GetCreatedBy(), ParentID: m.GetParentId(), TopLevel: m.GetTopLevel(), Labels: m.GetLabels(), Text: m.GetText(),
		Statuses:   each(&v, "statuses", m.GetStatuses(), taskpb.ReadStatus),
		Priorities: each(&v, "priorities", m.GetPriorities(), taskpb.ReadPriority),
		Types:      each(&v, "types", m.GetTypes(), taskpb.ReadType),
	}
	if f.ParentID != "" && f.TopLevel {
		v.Add("top_level", "contradicts parent_id: send one of the two")
	}
	if len(f.Labels) > maxFilterLabels {
		v.Add("labels", "has %d labels, %d are allowed", len(f.Labels), maxFilterLabels)
	}
	if since := m.GetClosedSince(); since != nil {
		if since.CheckValid() != nil {
			v.Add("closed_since", "is no instant: give seconds within the years 1 to 9999, and nanos from 0 to 999,999,999")
		} else if f.ClosedSince = since.AsTime(); f.ClosedSince.IsZero() {
			f.IncludeClosed = true // the first instant there is
		}
	}
	return f, v.At("filter"), nil
}

// each reads the values of an enumeration, each once.
func each[M ~int32, D comparable](v *task.Violations, field string, values []M, read func(*task.Violations, string, M) D) []D {
	var out []D
	for i, m := range values {
		if len(*v) > maxListed {
			break
		}
		if d := read(v, fmt.Sprintf("%s[%d]", field, i), m); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// dependsOnActor says whether a filter selects other tasks for another caller.
func dependsOnActor(m *taskpoolv1.TaskFilter) bool {
	return m.GetClaimable() || slices.ContainsFunc(
		[]string{m.GetAssignee(), m.GetHolder(), m.GetReviewer(), m.GetCreatedBy()},
		func(name string) bool { return strings.TrimSpace(name) == "me" },
	)
}

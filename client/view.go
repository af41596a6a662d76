package client

import (
	"maps"
	"slices"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// graphPrefix begins the id of every graph.
const graphPrefix = "tg-"

// view is the ids of all that a caller who applies every Change has.
type view struct {
	filtered      bool
	tasks, graphs map[string]struct{}
}

func newView(known []string, filtered bool) *view {
	v := &view{filtered: filtered, tasks: map[string]struct{}{}, graphs: map[string]struct{}{}}
	for _, id := range known {
		if strings.HasPrefix(id, graphPrefix) {
			v.graphs[id] = struct{}{}
		} else {
			v.tasks[id] = struct{}{}
		}
	}
	return v
}

// apply takes note of what comes and goes.
func (v *view) apply(change Change) {
	for _, t := range change.Tasks {
		note(v.tasks, t.GetTaskId(), t.GetKind())
	}
	for _, g := range change.Graphs {
		note(v.graphs, g.GetGraphId(), g.GetKind())
	}
}

func note(ids map[string]struct{}, id string, kind taskpoolv1.ChangeKind) {
	switch kind {
	case taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED:
		ids[id] = struct{}{}
	case taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW, taskpoolv1.ChangeKind_CHANGE_KIND_DELETED:
		delete(ids, id)
	}
}

// replace makes a snapshot the view, and adds to it that all else departed.
func (v *view) replace(snapshot *Change) {
	had := *v
	*v = *newView(nil, had.filtered)
	v.apply(*snapshot)
	gone := taskpoolv1.ChangeKind_CHANGE_KIND_DELETED
	for _, id := range missing(had.graphs, v.graphs) {
		snapshot.Graphs = append(snapshot.Graphs, &taskpoolv1.GraphChange{Revision: snapshot.Revision, GraphId: id, Kind: gone})
	}
	if v.filtered {
		gone = taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW
	}
	for _, id := range missing(had.tasks, v.tasks) {
		snapshot.Tasks = append(snapshot.Tasks, &taskpoolv1.TaskChange{Revision: snapshot.Revision, TaskId: id, Kind: gone})
	}
}

// missing are the ids of had that are not in has, in order.
func missing(had, has map[string]struct{}) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for id := range maps.Keys(had) {
			if _, ok := has[id]; !ok && !yield(id) {
				return
			}
		}
	})
}

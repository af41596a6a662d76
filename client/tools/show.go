package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// shown is a task as an agent reads it. What is empty is left out.
type shown struct {
	ID                     string            `json:"id"`
	Key                    string            `json:"key"`
	Title                  string            `json:"title"`
	Status                 string            `json:"status"`
	Priority               string            `json:"priority,omitempty"`
	Type                   string            `json:"type,omitempty"`
	Description            string            `json:"description,omitempty"`
	Body                   string            `json:"body,omitempty"`
	AcceptanceCriteria     []string          `json:"acceptanceCriteria,omitempty"`
	Links                  []string          `json:"links,omitempty"`
	Steps                  []string          `json:"steps,omitempty"`
	Context                []string          `json:"context,omitempty"`
	Constraints            []string          `json:"constraints,omitempty"`
	OutOfScope             []string          `json:"outOfScope,omitempty"`
	Verification           []string          `json:"verification,omitempty"`
	EdgeCases              []string          `json:"edgeCases,omitempty"`
	Labels                 map[string]string `json:"labels,omitempty"`
	Dependencies           []string          `json:"dependencies,omitempty"`
	UnfinishedDependencies []string          `json:"unfinishedDependencies,omitempty"`
	Dependents             []string          `json:"dependents,omitempty"`
	ParentID               string            `json:"parentId,omitempty"`
	Children               []string          `json:"children,omitempty"`
	ChildrenDone           string            `json:"childrenDone,omitempty"`
	Assignee               string            `json:"assignee,omitempty"`
	Holder                 string            `json:"holder,omitempty"`
	HeldAt                 string            `json:"heldAt,omitempty"`
	BlockedReason          string            `json:"blockedReason,omitempty"`
	NotBefore              string            `json:"notBefore,omitempty"`
	CreatedBy              string            `json:"createdBy,omitempty"`
	CreatedAt              string            `json:"createdAt,omitempty"`
	UpdatedAt              string            `json:"updatedAt,omitempty"`
	ClosedAt               string            `json:"closedAt,omitempty"`
	Result                 string            `json:"result,omitempty"`
	History                []string          `json:"history,omitempty"`
	HistoryEntries         int32             `json:"historyEntries,omitempty"`
}

// json is the task as indented JSON.
func (s shown) json() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return "", fmt.Errorf("write a task as JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// whole is a task that was read alone, with nothing cut.
func whole(resp *taskpoolv1.ReadTaskResponse) shown {
	t := resp.GetTask()
	s := show(t)
	s.Dependents = t.GetDependentIds()
	for _, child := range resp.GetChildren() {
		s.Children = append(s.Children, fmt.Sprintf("%s (%s), %s: %s", child.GetId(), child.GetKey(), words.Of(child.GetStatus()), child.GetTitle()))
	}
	s.ChildrenDone = ""
	for _, e := range t.GetHistory() {
		s.History = append(s.History, fmt.Sprintf("[%s] %s: %s", stamp(e.GetAt()), e.GetActor(), e.GetText()))
	}
	return s
}

// Bounds of one task in a list; the rest is for reading it alone. The server has
// cut the other long texts.
const (
	rowItems = 5
	rowTitle = 200
	rowIDs   = 10
	rowLabel = 60
)

// row is a task as one of a list, with so many items of each of its lists.
func row(t *taskpoolv1.Task, items int) shown {
	s := show(t)
	s.Title = preview(s.Title, rowTitle)
	for _, l := range []*[]string{
		&s.AcceptanceCriteria, &s.Links, &s.Steps, &s.Context, &s.Constraints, &s.OutOfScope, &s.Verification, &s.EdgeCases,
	} {
		*l = first(*l, items)
	}
	s.Dependencies, s.UnfinishedDependencies = first(s.Dependencies, rowIDs), first(s.UnfinishedDependencies, rowIDs)
	s.Labels = firstLabels(s.Labels, 2*items)
	s.HistoryEntries = t.GetHistoryCount()
	s.CreatedAt, s.CreatedBy = "", ""
	return s
}

// firstLabels are the first labels by their keys, with short values.
func firstLabels(labels map[string]string, n int) map[string]string {
	short := make(map[string]string, min(len(labels), n+1))
	for i, key := range slices.Sorted(maps.Keys(labels)) {
		if i == n && len(labels) > n+1 {
			short["..."] = fmt.Sprintf("and %d more: read the task by its id", len(labels)-n)
			break
		}
		short[key] = preview(labels[key], rowLabel)
	}
	return short
}

// first is a list cut to its first items, with a word on the others.
func first(list []string, n int) []string {
	if len(list) <= n+1 {
		return list
	}
	return append(append([]string(nil), list[:n]...), fmt.Sprintf("... and %d more: read the task by its id", len(list)-n))
}

func show(t *taskpoolv1.Task) shown {
	s := shown{
		ID: t.GetId(), Key: t.GetKey(), Title: t.GetTitle(), Status: words.Of(t.GetStatus()),
		Priority: words.Of(t.GetPriority()), Type: words.Of(t.GetType()),
		Description: t.GetDescription(), Body: t.GetBody(),
		AcceptanceCriteria: t.GetAcceptanceCriteria(), Links: t.GetLinks(), Steps: t.GetSteps(), Context: t.GetContext(),
		Constraints: t.GetConstraints(), OutOfScope: t.GetOutOfScope(), Verification: t.GetVerification(), EdgeCases: t.GetEdgeCases(),
		Labels: t.GetLabels(), Dependencies: t.GetDependencyIds(), UnfinishedDependencies: t.GetUnfinishedDependencyIds(),
		ParentID: t.GetParentId(), Assignee: t.GetAssignee(), Holder: t.GetHolder(), HeldAt: stamp(t.GetHeldAt()),
		BlockedReason: t.GetBlockedReason(), NotBefore: stamp(t.GetNotBefore()),
		CreatedBy: t.GetCreatedBy(), CreatedAt: stamp(t.GetCreatedAt()), UpdatedAt: stamp(t.GetUpdatedAt()), ClosedAt: stamp(t.GetClosedAt()),
		Result: t.GetResult(),
	}
	if n := t.GetChildrenTotal(); n > 0 {
		s.ChildrenDone = fmt.Sprintf("%d of %d", t.GetChildrenDone(), n)
	}
	return s
}

// stamp is an instant in UTC, to the millisecond; "" for none.
func stamp(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// preview cuts a text to n characters.
func preview(s string, n int) string {
	runes := 0
	for i := range s {
		if runes++; runes > n {
			return s[:i] + "..."
		}
	}
	return s
}

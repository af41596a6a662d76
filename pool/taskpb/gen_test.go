package taskpb_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Generators of everything a pool can hand to the codec.

func ids() *rapid.Generator[string] {
	return rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
}

func idLists() *rapid.Generator[[]string] { return lists(ids()) }

// lists gives nil rather than an empty list, as the pool does.
func lists(items *rapid.Generator[string]) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		list := rapid.SliceOfN(items, 0, 4).Draw(t, "list")
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

func members() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", task.Human, task.SystemPool, task.Anonymous, "agent:bob", "ext:ci", "agent:ゆき"})
}

// instants gives the zero time, or any that the API can tell.
func instants() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		seconds := rapid.Int64Range(-62135596799, 253402300799).Draw(t, "seconds")
		return time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")).UTC()
	})
}

func leases() *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(0, int64(48*time.Hour)), func(n int64) time.Duration { return time.Duration(n) })
}

func counts() *rapid.Generator[int] { return rapid.IntRange(0, 20_000) }

func tasks() *rapid.Generator[*task.Task] {
	text := rapid.String()
	texts := lists(text)
	return rapid.Custom(func(t *rapid.T) *task.Task {
		out := &task.Task{
			ID: ids().Draw(t, "id"), Number: rapid.Int64Range(1, 1<<62).Draw(t, "number"), Title: text.Draw(t, "title"),
			Brief:          "",
			Priority:       task.Priority(rapid.IntRange(0, int(task.High)).Draw(t, "priority")),
			Type:           task.Type(rapid.IntRange(0, int(task.Research)).Draw(t, "type")),
			Status:         rapid.SampledFrom(task.Statuses()).Draw(t, "status"),
			Dependencies:   idLists().Draw(t, "dependencies"),
			Unfinished:     idLists().Draw(t, "unfinished"),
			HistoryCount:   counts().Draw(t, "history_count"),
			Assignee:       members().Draw(t, "assignee"),
			CreatedBy:      members().Draw(t, "created_by"),
			Reviewer:       members().Draw(t, "reviewer"),
			ParentID:       rapid.OneOf(rapid.Just(""), ids()).Draw(t, "parent"),
			Depth:          rapid.IntRange(0, 1000).Draw(t, "depth"),
			ChildrenTotal:  counts().Draw(t, "children_total"),
			ChildrenDone:   counts().Draw(t, "children_done"),
			Holder:         members().Draw(t, "holder"),
			HeldAt:         instants().Draw(t, "held_at"),
			Lease:          leases().Draw(t, "lease"),
			BlockedReason:  text.Draw(t, "blocked_reason"),
			CreatedAt:      instants().Draw(t, "created_at"),
			UpdatedAt:      instants().Draw(t, "updated_at"),
			ClosedAt:       instants().Draw(t, "closed_at"),
			Revision:       rapid.Int64Min(1).Draw(t, "revision"),
			Version:        rapid.Int64Min(1).Draw(t, "version"),
			NotBefore:      instants().Draw(t, "not_before"),
			DiscoveredFrom: rapid.OneOf(rapid.Just(""), ids()).Draw(t, "discovered_from"),
			Result:         text.Draw(t, "result"),
			Submission:     rapid.Int32Min(0).Draw(t, "submission"),
		}
		if labels := rapid.MapOfN(text, text, 0, 12).Draw(t, "labels"); len(labels) > 0 {
			out.Labels = labels
		}
		if rapid.Bool().Draw(t, "brief") {
			out.Brief = (&task.Brief{
				Description: text.Draw(t, "description"), Body: text.Draw(t, "body"),
				AcceptanceCriteria: texts.Draw(t, "acceptance_criteria"), Links: texts.Draw(t, "links"),
				Steps: texts.Draw(t, "steps"), Constraints: texts.Draw(t, "constraints"), OutOfScope: texts.Draw(t, "out_of_scope"),
				Verification: texts.Draw(t, "verification"), Context: texts.Draw(t, "context"), EdgeCases: texts.Draw(t, "edge_cases"),
			}).Pack()
		}
		return out
	})
}

func statuses() *rapid.Generator[task.Status] {
	return rapid.SampledFrom(append(task.Statuses(), task.StatusUnspecified))
}

// details gives a detail of each kind, nil where the kind has none.
func details(t *rapid.T, kind task.EventKind) any {
	text := rapid.String()
	switch kind {
	case task.EventCreated:
		return task.CreatedDetail{Title: text.Draw(t, "title"), ParentID: ids().Draw(t, "parent"), DiscoveredFrom: text.Draw(t, "from")}
	case task.EventClaimed:
		return task.ClaimedDetail{Holder: members().Draw(t, "holder"), Lease: leases().Draw(t, "lease"), RunID: text.Draw(t, "run")}
	case task.EventHoldExpired:
		return task.HoldExpiredDetail{
			Holder: members().Draw(t, "holder"), HeldAt: instants().Draw(t, "held_at"), Lease: leases().Draw(t, "lease"), RunID: text.Draw(t, "run"),
			InARow: counts().Draw(t, "in a row"),
		}
	case task.EventReleased:
		return task.ReleasedDetail{Holder: members().Draw(t, "holder"), Reason: text.Draw(t, "reason")}
	case task.EventStatus:
		return task.StatusDetail{
			From: statuses().Draw(t, "from"), To: statuses().Draw(t, "to"), Reason: text.Draw(t, "reason"), Forced: rapid.Bool().Draw(t, "forced"),
			OpenChildren: idLists().Draw(t, "open"), Unfinished: idLists().Draw(t, "unfinished"),
		}
	case task.EventAssigned:
		return task.AssignedDetail{From: members().Draw(t, "from"), To: members().Draw(t, "to")}
	case task.EventSubtask:
		return task.SubtaskDetail{ChildID: ids().Draw(t, "child"), Change: task.SubtaskChange(rapid.IntRange(0, int(task.SubtasksAllClosed)).Draw(t, "change"))}
	case task.EventEdited:
		names := lists(text)
		return task.EditedDetail{Fields: names.Draw(t, "fields"), SetLabels: names.Draw(t, "set"), RemovedLabels: names.Draw(t, "removed")}
	case task.EventDependency:
		return task.DependencyDetail{Added: idLists().Draw(t, "added"), Removed: idLists().Draw(t, "removed"), GivenUp: rapid.OneOf(rapid.Just(""), ids()).Draw(t, "given_up")}
	case task.EventImported:
		return task.ImportedDetail{Key: text.Draw(t, "key")}
	}
	return nil
}

func events() *rapid.Generator[*task.Event] {
	return rapid.Custom(func(t *rapid.T) *task.Event {
		e := &task.Event{
			ID: rapid.Int64Min(1).Draw(t, "id"), TaskID: ids().Draw(t, "task"), At: instants().Draw(t, "at"),
			Actor: members().Draw(t, "actor"), Kind: rapid.SampledFrom(task.EventKinds()).Draw(t, "kind"), Body: rapid.String().Draw(t, "body"),
		}
		if rapid.Bool().Draw(t, "detailed") {
			e.Detail = details(t, e.Kind)
		}
		return e
	})
}

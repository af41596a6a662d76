package task

// CheckExportedEvent is everything wrong with an event of an export that needs
// no look at its task: its id, time and actor, its text by the rules and limits
// of the doors that make such events, and its detail. Fields are named as in the
// API.
func CheckExportedEvent(e *Event, l Limits) Violations {
	var v Violations
	checkMark(&v, "id", "number", e.ID)
	checkID(&v, "task_id", e.TaskID, true)
	if e.At.IsZero() {
		v.Add("at", "is absent: an event happened at some time")
	}
	if e.Actor != SystemPool {
		checkMember(&v, "actor", e.Actor)
	}
	switch e.Kind {
	case EventComment:
		v = append(v, CheckComment(e.Body, l)...)
	case EventProgress:
		historyRule.read(&v, "body", e.Body)
	default:
		wellFormed(&v, "body", e.Body)
	}
	eachText(e.Detail, func(field, text string) { wellFormed(&v, e.Kind.String()+"."+field, text) })
	if !e.Kind.Valid() {
		v.Add("kind", "is none: an event tells what happened")
	}
	return v
}

// eachText passes on the texts of a detail, with the field that holds each.
func eachText(detail any, one func(field, text string)) {
	all := func(field string, list []string) {
		for i, text := range list {
			one(index(field, i), text)
		}
	}
	switch d := detail.(type) {
	case CreatedDetail:
		one("title", d.Title)
		one("parent_id", d.ParentID)
		one("discovered_from_id", d.DiscoveredFrom)
	case ClaimedDetail:
		one("holder", d.Holder)
		one("run_id", d.RunID)
	case ReleasedDetail:
		one("holder", d.Holder)
		one("reason", d.Reason)
	case StatusDetail:
		one("reason", d.Reason)
		all("open_child_ids", d.OpenChildren)
		all("unfinished_dependency_ids", d.Unfinished)
	case AssignedDetail:
		one("from", d.From)
		one("to", d.To)
	case SubtaskDetail:
		one("child_id", d.ChildID)
	case EditedDetail:
		all("fields", d.Fields)
		all("set_labels", d.SetLabels)
		all("removed_labels", d.RemovedLabels)
	case DependencyDetail:
		all("added_ids", d.Added)
		all("removed_ids", d.Removed)
		one("given_up_id", d.GivenUp)
	case ImportedDetail:
		one("key", d.Key)
	}
}

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
	if e.Kind.Valid() {
		v = append(v, checkDetail(e).At(e.Kind.String())...)
	}
	if !e.Kind.Valid() {
		v.Add("kind", "is none: an event tells what happened")
	}
	return v
}

// checkDetail checks what an event tells programs: that it is there, and names
// tasks, members and statuses as a pool does. Fields are named below the detail.
func checkDetail(e *Event) Violations {
	var v Violations
	ids := func(field string, list []string) {
		for i, id := range list {
			checkID(&v, index(field, i), id, true)
		}
	}
	names := func(field string, list []string) {
		for i, name := range list {
			wellFormed(&v, index(field, i), name)
		}
	}
	member := func(field, id string) {
		if id != "" {
			checkMember(&v, field, id)
		}
	}
	switch d := e.Detail.(type) {
	case nil:
		if e.Kind != EventComment && e.Kind != EventProgress {
			v.Add("", "is absent: an event of the kind %s tells what it was", e.Kind)
		}
	case CreatedDetail:
		wellFormed(&v, "title", d.Title)
		checkID(&v, "parent_id", d.ParentID, false)
		checkID(&v, "discovered_from_id", d.DiscoveredFrom, false)
	case ClaimedDetail:
		checkMember(&v, "holder", d.Holder)
		wellFormed(&v, "run_id", d.RunID)
	case HoldExpiredDetail:
		checkMember(&v, "holder", d.Holder)
		wellFormed(&v, "run_id", d.RunID)
		checkLease(&v, "lease", d.Lease)
		if d.InARow < 1 || d.InARow > LimitCeiling {
			v.Add("expired_in_a_row", "is %d: it counts holds, from 1", d.InARow)
		}
	case ReleasedDetail:
		checkMember(&v, "holder", d.Holder)
		wellFormed(&v, "reason", d.Reason)
	case StatusDetail:
		d.check(&v)
		ids("open_child_ids", d.OpenChildren)
		ids("unfinished_dependency_ids", d.Unfinished)
	case AssignedDetail:
		member("from", d.From)
		member("to", d.To)
	case SubtaskDetail:
		checkID(&v, "child_id", d.ChildID, true)
		if d.Change == SubtaskUnspecified {
			v.Add("kind", "is none: tell what happened among the children")
		}
	case EditedDetail:
		names("fields", d.Fields)
		names("set_labels", d.SetLabels)
		names("removed_labels", d.RemovedLabels)
	case DependencyDetail:
		ids("added_ids", d.Added)
		ids("removed_ids", d.Removed)
		checkID(&v, "given_up_id", d.GivenUp, false)
	case ImportedDetail:
		wellFormed(&v, "key", d.Key)
	}
	return v
}

func (d StatusDetail) check(v *Violations) {
	const none = "is none: tell between which statuses the task moved"
	if !d.From.Valid() {
		v.Add("from", none)
	}
	if !d.To.Valid() {
		v.Add("to", none)
	}
	wellFormed(v, "reason", d.Reason)
}

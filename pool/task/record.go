package task

// Record is one piece of an exported pool: exactly one of Outline, Graph, Task and
// Event is there. Immutable once it is handed on.
type Record struct {
	// Outline is the first.
	Outline *Outline
	// Graph is the id of a graph, which this version can only refuse.
	Graph string
	// Task comes in creation order.
	Task *Task
	// History is what a record of a task says its progress log is: events of
	// which At, Actor and Body count. The log itself is in the thread.
	History []*Event
	// Event comes after its task, oldest first.
	Event *Event
}

// Outline is what an export tells of the pool as a whole.
type Outline struct {
	Name   string
	Limits Limits
	Rules  Rules
	// Extent is nil where it is not known.
	Extent *Extent
}

// Extent is what an export holds in all, and how far its pool had counted.
type Extent struct {
	// Tasks and Events count the records.
	Tasks, Events int64
	// LastNumber and LastEvent are the last task number and event id that were
	// given out, whether or not there still is such a task or event.
	LastNumber, LastEvent int64
}

// MaxMark is the highest number, event id or revision that there can be: what is
// above was never given out, and there would be no next one. MaxExported is the
// highest in an export, so that there is room for those that follow.
const (
	MaxMark     = 1 << 53
	MaxExported = MaxMark / 2
)

// CheckExported gives a task of an export as it is to be kept, and everything
// wrong with it that needs no look at other tasks: its texts by the rules and
// limits of [Draft.Check], its members, and whether holder, assignee, reason and
// times go with its status. What the pool derives is not looked at. Fields are
// named as in the API.
func CheckExported(t *Task, l Limits) (*Task, Violations) {
	d := draftOf(t)
	d, v := d.Check(l)
	c := t.Clone()
	c.Title, c.Brief, c.Labels, c.NotBefore, c.Dependencies = d.Title, d.Brief(), d.Labels, d.NotBefore, d.Dependencies
	checkID(&v, "id", t.ID, true)
	checkID(&v, "parent_id", t.ParentID, false)
	checkID(&v, "discovered_from_id", t.DiscoveredFrom, false)
	for i, id := range t.Dependencies {
		checkID(&v, index("dependency_ids", i), id, true)
	}
	checkMark(&v, "key", "number", t.Number)
	checkMember(&v, "created_by", t.CreatedBy)
	if t.CreatedAt.IsZero() {
		v.Add("created_at", "is absent: a record tells when its task was created")
	}
	checkStanding(&v, t, &l)
	return c, v
}

// draftOf is the task as somebody could ask for it. It shares the task's slices.
func draftOf(t *Task) Draft {
	d := Draft{
		Title: t.Title, Priority: t.Priority, Type: t.Type, Labels: t.Labels, NotBefore: t.NotBefore,
		Dependencies: t.Dependencies, Parent: t.ParentID, DiscoveredFrom: t.DiscoveredFrom, Assignee: t.Assignee,
	}
	brief := t.Brief.Unpack()
	d.Description, d.Body = brief.Description, brief.Body
	for _, f := range listFields {
		*f.draft(&d) = *f.brief(brief)
	}
	return d
}

// checkStanding checks what goes with the status.
func checkStanding(v *Violations, t *Task, l *Limits) {
	said := func(there, wanted bool, field, absent, present string) {
		switch {
		case wanted && !there:
			v.Add(field, "is absent: %s", absent)
		case !wanted && there:
			v.Add(field, "is there: %s", present)
		}
	}
	if !t.Status.Valid() {
		v.Add("status", "is none: a record tells where its task stands")
		return
	}
	held, blocked, closed := t.Status == InProgress, t.Status == Blocked, t.Status.Closed()
	said(t.Holder != "", held, "holder", "a task that is in progress has one", "a task that is "+t.Status.String()+" has none")
	said(!t.HeldAt.IsZero(), held, "held_at", "a task that is in progress was claimed at some time", "nobody holds a task that is "+t.Status.String())
	said(!t.ClosedAt.IsZero(), closed, "closed_at", "a task that is "+t.Status.String()+" was closed at some time", "a task that is "+t.Status.String()+" is not closed")
	if t.Lease != 0 {
		said(true, held, "lease", "", "nobody holds a task that is "+t.Status.String())
		checkLease(v, "lease", t.Lease)
	}
	said(t.BlockedReason != "", blocked, "blocked_reason", "a task that is blocked says why", "a task that is "+t.Status.String()+" is not blocked")
	said(t.Assignee != "" || !t.AssignedByClaim, true, "assignee", "assigned_by_claim says that a claim made an assignment", "")
	if t.Holder != "" {
		checkMember(v, "holder", t.Holder)
	}
	if t.Assignee != "" {
		checkMember(v, "assignee", t.Assignee)
	}
	if blocked {
		reasonRule(l).read(v, "blocked_reason", t.BlockedReason)
	}
}

// checkID checks a task's id as an export has it: whole, and in lower case.
func checkID(v *Violations, field, id string, required bool) {
	if id == "" && !required {
		return
	}
	if r, ok := ParseReference(id); !ok || r.Kind != ReferenceID || r.ID != id {
		v.Add(field, "is %s: write a whole UUID in lower case, as in 5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11", shown(id))
	}
}

func checkMark(v *Violations, field, what string, n int64) {
	if n < 1 || n > MaxExported {
		v.Add(field, "has the %s %d, which no pool ever gave: write one from 1 to %d, as the export had it", what, n, MaxExported)
	}
}

// checkMember checks the id of a member who may do tasks.
func checkMember(v *Violations, field, id string) {
	switch {
	case id == "":
		v.Add(field, "is empty: %s", memberIDHelp)
	case id == SystemPool:
		v.Add(field, "is the pool itself, which does no tasks")
	case !ValidMember(id):
		v.Add(field, "is %s: %s", shown(id), memberIDHelp)
	}
}

const memberIDHelp = "write a member's id, as in agent:NAME, ext:NAME or human"

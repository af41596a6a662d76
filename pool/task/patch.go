package task

import (
	"maps"
	"slices"
	"time"
)

// Patch is a change that somebody wants made to a task. What is nil, or empty
// where it is no pointer, is left as it is. References and member names are as
// the caller wrote them: the pool resolves them.
type Patch struct {
	// Title can't be empty; an empty Description or Body clears it.
	Title       *string
	Description *string
	Body        *string
	// PriorityUnspecified and TypeUnspecified clear.
	Priority *Priority
	Type     *Type
	// A list replaces the whole list; an empty one clears it.
	AcceptanceCriteria *[]string
	Links              *[]string
	Steps              *[]string
	Constraints        *[]string
	OutOfScope         *[]string
	Verification       *[]string
	Context            *[]string
	EdgeCases          *[]string
	// SetLabels are put over the task's labels, RemoveLabels taken away from
	// them; the others stay. Removing what is not there is no error.
	SetLabels    map[string]string
	RemoveLabels []string
	// NotBefore: the zero time clears.
	NotBefore *time.Time

	AddDependencies    []string
	RemoveDependencies []string
	// Assignee and Parent: empty is nobody and none.
	Assignee *string
	Parent   *string
	Status   *Status
	// Reason is why, for Status.
	Reason string
	// Force lets the operator close a task with open children.
	Force        bool
	HistoryEntry *string
}

// Check gives the patch as it is to be kept, and everything wrong with it. Only
// what the patch carries is looked at, so a task older than a lowered limit can
// still be edited elsewhere. The patch it gives is trimmed and shares no
// pointer, slice or map with p; it is only good when there are no violations.
func (p Patch) Check(l Limits) (Patch, Violations) {
	var v Violations
	p.Title = readPresent(&v, titleRule(&l), "title", p.Title)
	p.Description = readPresent(&v, clearable(descriptionRule(&l)), "description", p.Description)
	p.Body = readPresent(&v, clearable(bodyRule(&l)), "body", p.Body)
	if p.Priority != nil {
		checkPriority(&v, *p.Priority)
		p.Priority = new(*p.Priority)
	}
	if p.Type != nil {
		checkType(&v, *p.Type)
		p.Type = new(*p.Type)
	}
	for i := range listFields {
		if list := listFields[i].patch(&p); *list != nil {
			*list = new(listFields[i].readList(&v, **list, &l))
		}
	}
	p.checkLabels(&v, &l)
	if p.NotBefore != nil {
		p.NotBefore = new(readNotBefore(&v, *p.NotBefore))
	}
	p.checkDependencies(&v, &l)
	p.Assignee = readPresent(&v, nameRule, "assignee", p.Assignee)
	p.Parent = readPresent(&v, nameRule, "parent_id", p.Parent)
	if p.Status != nil {
		checkSettable(&v, *p.Status)
		p.Status = new(*p.Status)
	}
	p.Reason = reasonRule(&l).read(&v, "reason", p.Reason)
	if p.Reason != "" && p.Status == nil && p.Assignee == nil {
		v.Add("reason", "says why a status or an assignment changes, and neither does: set one with it, or record it as a history_entry")
	}
	p.HistoryEntry = readPresent(&v, historyRule, "history_entry", p.HistoryEntry)
	return p, v
}

// Empty says whether the patch asks for nothing.
func (p Patch) Empty() bool {
	for _, f := range listFields {
		if *f.patch(&p) != nil {
			return false
		}
	}
	return p.Title == nil && p.Description == nil && p.Body == nil && p.Priority == nil && p.Type == nil &&
		len(p.SetLabels) == 0 && len(p.RemoveLabels) == 0 && p.NotBefore == nil &&
		len(p.AddDependencies) == 0 && len(p.RemoveDependencies) == 0 &&
		p.Assignee == nil && p.Parent == nil && p.Status == nil && p.HistoryEntry == nil
}

func readPresent(v *Violations, rule textRule, field string, text *string) *string {
	if text == nil {
		return nil
	}
	return new(rule.read(v, field, *text))
}

func clearable(rule textRule) textRule {
	rule.ifEmpty = "write text, or send an empty one to clear it"
	return rule
}

// historyRule sets no length of its own: whether the line fits into the log is
// for [HistoryFits] to say.
var historyRule = textRule{
	max: LimitCeiling, required: true,
	ifEmpty: "write what was done, or leave it out", ifLong: "shorten it, or put it into the body",
}

// checkSettable refuses what nobody can set, whatever the task's status is.
func checkSettable(v *Violations, s Status) {
	switch {
	case s == Pending:
		v.Add("status", "pending is derived: the pool sets it while a dependency is unfinished or not_before lies ahead; set ready to put a task back")
	case s == Failed:
		v.Add("status", "failed is set by the pool alone, when attempts are used up: set cancelled to give a task up, or blocked with a reason")
	case !s.Valid():
		v.Add("status", "has the unknown value %d: use ready, in_progress, review, blocked, done or cancelled", uint8(s))
	}
}

func (p *Patch) checkLabels(v *Violations, l *Limits) {
	checkLabels(v, "set_labels", p.SetLabels, l)
	p.SetLabels = maps.Clone(p.SetLabels)
	if tooMany(v, "remove_labels", len(p.RemoveLabels), maxLabels) {
		return
	}
	p.RemoveLabels = slices.Clone(p.RemoveLabels)
	for i, k := range p.RemoveLabels {
		path := index("remove_labels", i)
		if k == "" {
			v.Add(path, "is empty: name the label")
		} else if wellFormed(v, path, k) {
			if _, both := p.SetLabels[k]; both {
				v.Add(path, "is also in set_labels: set the label or remove it")
			}
		}
	}
}

func (p *Patch) checkDependencies(v *Violations, l *Limits) {
	p.AddDependencies = readReferences(v, "add_dependency_ids", p.AddDependencies, l.Dependencies)
	p.RemoveDependencies = readReferences(v, "remove_dependency_ids", p.RemoveDependencies, maxDependencies)
	added := make(map[string]int, len(p.AddDependencies))
	for i, reference := range p.AddDependencies {
		added[reference] = i
	}
	for i, reference := range p.RemoveDependencies {
		if j, both := added[reference]; both {
			v.Add(index("remove_dependency_ids", i), "is also in add_dependency_ids[%d]: add the dependency or remove it", j)
		}
	}
}

package task

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Draft is a task that somebody wants created. References (Dependencies,
// Parent, DiscoveredFrom) and member names are as the caller wrote them: the
// pool resolves them.
type Draft struct {
	Title              string
	Description        string
	Body               string
	AcceptanceCriteria []string
	Priority           Priority
	Type               Type
	Links              []string
	Steps              []string
	Constraints        []string
	OutOfScope         []string
	Verification       []string
	Context            []string
	EdgeCases          []string
	Labels             map[string]string
	// NotBefore keeps the task pending until then; zero: at once.
	NotBefore      time.Time
	DiscoveredFrom string
	Dependencies   []string
	Assignee       string
	Parent         string
	// Ref is the task's local name within one batch, "" for none.
	Ref string
}

// Check gives the draft as it is to be kept, and everything wrong with it. The
// draft it gives is trimmed and shares no slice and no map with d; it is only
// good when there are no violations. Fields are named as in the API
// (discovered_from_id, dependency_ids, parent_id).
func (d Draft) Check(l Limits) (Draft, Violations) {
	var v Violations
	d.Title = titleRule(&l).read(&v, "title", d.Title)
	d.Description = descriptionRule(&l).read(&v, "description", d.Description)
	d.Body = bodyRule(&l).read(&v, "body", d.Body)
	checkPriority(&v, d.Priority)
	checkType(&v, d.Type)
	for i := range listFields {
		list := listFields[i].draft(&d)
		*list = listFields[i].readList(&v, *list, &l)
	}
	checkLabels(&v, "labels", d.Labels, &l)
	if len(d.Labels) == 0 {
		d.Labels = nil
	} else if len(d.Labels) <= l.Labels {
		d.Labels = maps.Clone(d.Labels)
	}
	d.NotBefore = readNotBefore(&v, d.NotBefore)
	d.DiscoveredFrom = nameRule.read(&v, "discovered_from_id", d.DiscoveredFrom)
	d.Dependencies = readReferences(&v, "dependency_ids", d.Dependencies, l.Dependencies)
	d.Assignee = nameRule.read(&v, "assignee", d.Assignee)
	d.Parent = nameRule.read(&v, "parent_id", d.Parent)
	if d.Ref != "" {
		checkRef(&v, "ref", d.Ref)
	}
	return d, v
}

// Brief is the text of a checked draft beyond its title.
func (d *Draft) Brief() PackedBrief {
	b := Brief{Description: d.Description, Body: d.Body}
	for _, f := range listFields {
		*f.brief(&b) = *f.draft(d)
	}
	return b.Pack()
}

// maxNameLength bounds a reference or the name of a member in a request; the
// longest that can mean something is "ref:" and a local name.
const maxNameLength = len(refPrefix) + MaxRefLength

// nameRule reads an optional reference or member name.
var nameRule = textRule{max: maxNameLength, ifLong: "no name is that long"}

var referenceRule = textRule{
	max: maxNameLength, required: true,
	ifEmpty: "name a task, or leave it out", ifLong: "no id is that long",
}

// readReferences checks a list of references and gives them trimmed, in a new
// slice; nil when there are none. The same text twice is a violation; the same
// task by two names is for the pool to find.
func readReferences(v *Violations, field string, references []string, most int) []string {
	if len(references) == 0 || tooMany(v, field, len(references), most) {
		return nil
	}
	read := slices.Clone(references)
	first := make(map[string]int, len(read))
	for i := range read {
		path, before := index(field, i), len(*v)
		read[i] = referenceRule.read(v, path, read[i])
		if len(*v) > before {
			continue
		}
		if j, again := first[read[i]]; again {
			v.Add(path, "repeats %s: name each task once", index(field, j))
			continue
		}
		first[read[i]] = i
	}
	return read
}

func checkPriority(v *Violations, p Priority) {
	if !p.Valid() {
		v.Add("priority", "has the unknown value %d: use low, medium or high, or leave it out", uint8(p))
	}
}

func checkType(v *Violations, t Type) {
	if !t.Valid() {
		v.Add("type", "has the unknown value %d: use %s, or leave it out", uint8(t), strings.Join(typeNames[Feature:], ", "))
	}
}

// readNotBefore checks an instant and gives it in UTC without a monotonic
// reading. The API's timestamps reach from year 1 to 9999.
func readNotBefore(v *Violations, at time.Time) time.Time {
	if at.IsZero() {
		return time.Time{}
	}
	at = at.Round(0).UTC()
	if year := at.Year(); year < 1 || year > 9999 {
		v.Add("not_before", "lies in the year %d: give an instant in the years 1 to 9999", year)
	}
	return at
}

package task

import "slices"

// listField is one of the lists of a task's brief. listFields is the one place
// that knows them all.
type listField struct {
	name  string
	count func(*Limits) int
	// read checks one item and gives it as it is to be kept.
	read  func(v *Violations, field, item string, l *Limits) string
	draft func(*Draft) *[]string
	patch func(*Patch) **[]string
	brief func(*Brief) *[]string
}

var listFields = [...]listField{
	{
		"acceptance_criteria", func(l *Limits) int { return l.AcceptanceCriteriaCount }, readCriterion,
		func(d *Draft) *[]string { return &d.AcceptanceCriteria },
		func(p *Patch) **[]string { return &p.AcceptanceCriteria },
		func(b *Brief) *[]string { return &b.AcceptanceCriteria },
	},
	{
		"links", func(l *Limits) int { return l.LinksPerTask }, readLink,
		func(d *Draft) *[]string { return &d.Links },
		func(p *Patch) **[]string { return &p.Links },
		func(b *Brief) *[]string { return &b.Links },
	},
	{
		"steps", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.Steps },
		func(p *Patch) **[]string { return &p.Steps },
		func(b *Brief) *[]string { return &b.Steps },
	},
	{
		"constraints", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.Constraints },
		func(p *Patch) **[]string { return &p.Constraints },
		func(b *Brief) *[]string { return &b.Constraints },
	},
	{
		"out_of_scope", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.OutOfScope },
		func(p *Patch) **[]string { return &p.OutOfScope },
		func(b *Brief) *[]string { return &b.OutOfScope },
	},
	{
		"verification", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.Verification },
		func(p *Patch) **[]string { return &p.Verification },
		func(b *Brief) *[]string { return &b.Verification },
	},
	{
		"context", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.Context },
		func(p *Patch) **[]string { return &p.Context },
		func(b *Brief) *[]string { return &b.Context },
	},
	{
		"edge_cases", planFieldCount, readPlanItem,
		func(d *Draft) *[]string { return &d.EdgeCases },
		func(p *Patch) **[]string { return &p.EdgeCases },
		func(b *Brief) *[]string { return &b.EdgeCases },
	},
}

func planFieldCount(l *Limits) int { return l.PlanFieldCount }

func readCriterion(v *Violations, field, item string, l *Limits) string {
	return itemRule(l.AcceptanceCriteriaLength).read(v, field, item)
}

func readPlanItem(v *Violations, field, item string, l *Limits) string {
	return itemRule(l.PlanFieldLength).read(v, field, item)
}

func itemRule(most int) textRule {
	return textRule{
		max: most, required: true,
		ifEmpty: "write the item, or leave it out", ifLong: "shorten it or split it in two",
	}
}

// readList checks a list and gives it trimmed, in a new slice; nil when it is
// empty. Where there are too many items, that is all that is said of it: the
// items are not looked at, so that the answer stays bounded.
func (f *listField) readList(v *Violations, items []string, l *Limits) []string {
	if len(items) == 0 || tooMany(v, f.name, len(items), f.count(l)) {
		return nil
	}
	read := slices.Clone(items)
	for i := range read {
		read[i] = f.readItem(v, i, read[i], l)
	}
	return read
}

// readItem makes the path of an item only when something is wrong with it.
func (f *listField) readItem(v *Violations, i int, item string, l *Limits) string {
	var found Violations
	item = f.read(&found, "", item, l)
	if found != nil {
		*v = append(*v, found.At(index(f.name, i))...)
	}
	return item
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// page is the text of a task for people, put together section by section.
type page struct {
	screen terminal.Screen
	text   strings.Builder
	width  int // of the facts' names
}

// printTask writes a task.
func (a *app) printTask(ctx context.Context, c *client.Client, answer *taskpoolv1.ReadTaskResponse) error {
	t := answer.GetTask()
	names := newTitles(ctx, c)
	names.know(answer)
	p := &page{screen: a.screen, width: len("depends on")}
	p.line(p.screen.Paint(terminal.Bold, terminal.Line(strings.TrimSpace(t.GetKey()+"  "+t.GetTitle()))))
	p.line(p.screen.Paint(statusStyle(t.GetStatus()), words.Of(t.GetStatus())) + terminal.Line(because(t, names)))
	p.facts(t, names)
	p.paragraph("Description", t.GetDescription())
	p.paragraph("Body", t.GetBody())
	for _, list := range listFields {
		p.list(list.heading, list.flag == "step", list.items(t))
	}
	p.paragraph("Result", t.GetResult())
	p.related("Children", answer.GetChildren())
	p.history(t.GetHistory())
	p.thread(answer.GetEvents(), names)
	return a.print(p.text.String())
}

// because is why a task has its status, as the end of a line.
func because(t *taskpoolv1.Task, names *titles) string {
	switch t.GetStatus() {
	case taskpoolv1.TaskStatus_TASK_STATUS_PENDING:
		return ": " + waits(t, names)
	case taskpoolv1.TaskStatus_TASK_STATUS_READY:
		if t.GetAssignee() != "" {
			return ": nothing is in the way; waits for " + t.GetAssignee()
		}
		return ": nothing is in the way"
	case taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS:
		return ": " + held(t)
	case taskpoolv1.TaskStatus_TASK_STATUS_REVIEW:
		if t.GetReviewer() != "" {
			return ": waits for the verdict of " + t.GetReviewer()
		}
		return ": waits for a verdict"
	case taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED:
		return ": " + t.GetBlockedReason()
	case taskpoolv1.TaskStatus_TASK_STATUS_DONE, taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED:
		return " since " + clock(t.GetClosedAt())
	}
	return ""
}

// waits is what a pending task waits for.
func waits(t *taskpoolv1.Task, names *titles) string {
	var reasons []string
	if ids := t.GetUnfinishedDependencyIds(); len(ids) > 0 {
		reasons = append(reasons, names.keys(ids))
	}
	if t.GetNotBefore() != nil {
		reasons = append(reasons, clock(t.GetNotBefore()))
	}
	if len(reasons) == 0 {
		return "its graph is not running"
	}
	return "waits for " + strings.Join(reasons, " and ")
}

// held is who has it, since when and for how long.
func held(t *taskpoolv1.Task) string {
	text := fmt.Sprintf("held by %s since %s", t.GetHolder(), clock(t.GetHeldAt()))
	if t.GetHoldExpiresAt() != nil {
		text += ", until " + clock(t.GetHoldExpiresAt())
	} else if t.GetLease() != nil {
		text += ", lease " + span(t.GetLease().AsDuration())
	}
	return text
}

func (p *page) line(text string) {
	p.text.WriteString(text)
	p.text.WriteByte('\n')
}

// facts are the short fields, those that are set.
func (p *page) facts(t *taskpoolv1.Task, names *titles) {
	p.line("")
	p.fact("id", t.GetId())
	p.fact("priority", words.Of(t.GetPriority()))
	p.fact("type", words.Of(t.GetType()))
	p.fact("assignee", t.GetAssignee())
	p.fact("reviewer", t.GetReviewer())
	p.fact("labels", labels(t.GetLabels()))
	if t.GetParentId() != "" {
		p.fact("parent", names.of(t.GetParentId()))
	}
	p.fact("children", children(t))
	for i, id := range t.GetDependencyIds() {
		p.factOf("depends on", i, names.of(id))
	}
	for i, id := range t.GetDependentIds() {
		p.factOf("needed by", i, names.of(id))
	}
	if t.GetDiscoveredFromId() != "" {
		p.fact("found in", names.of(t.GetDiscoveredFromId()))
	}
	p.fact("not before", clock(t.GetNotBefore()))
	p.fact("created", strings.TrimSpace(clock(t.GetCreatedAt())+" by "+t.GetCreatedBy()))
	p.fact("updated", clock(t.GetUpdatedAt()))
	if t.GetVersion() > 0 {
		p.fact("version", fmt.Sprint(t.GetVersion()))
	}
}

func (p *page) fact(name, value string) {
	if value != "" && value != "by" {
		p.line(p.screen.Paint(terminal.Dim, fmt.Sprintf("%-*s", p.width, name)) + "  " + terminal.Line(value))
	}
}

// factOf is the i-th value of a fact; the name stands at the first.
func (p *page) factOf(name string, i int, value string) {
	if i > 0 {
		name = " "
	}
	p.fact(name, value)
}

func (p *page) heading(text string) {
	p.line("")
	p.line(p.screen.Paint(terminal.Bold, text))
}

func (p *page) paragraph(heading, text string) {
	if text == "" {
		return
	}
	p.heading(heading)
	p.indented("  ", text)
}

// indented writes text whose lines all begin with the indent.
func (p *page) indented(indent, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(terminal.Block(text), "\n"), "\n") {
		p.line(strings.TrimRight(indent+line, " "))
	}
}

func (p *page) list(heading string, numbered bool, items []string) {
	if len(items) == 0 {
		return
	}
	p.heading(heading)
	for i, item := range items {
		mark := "- "
		if numbered {
			mark = fmt.Sprintf("%d. ", i+1)
		}
		first, rest, more := strings.Cut(terminal.Block(item), "\n")
		p.line("  " + mark + first)
		if more {
			p.indented("  "+strings.Repeat(" ", len(mark)), rest)
		}
	}
}

// labels are in the order of their keys.
func labels(m map[string]string) string {
	pairs := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, key+"="+m[key])
	}
	return strings.Join(pairs, ", ")
}

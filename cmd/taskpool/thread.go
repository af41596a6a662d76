package main

import (
	"strings"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// history is what was recorded while working.
func (p *page) history(entries []*taskpoolv1.ProgressEntry) {
	if len(entries) == 0 {
		return
	}
	p.heading("History")
	for _, e := range entries {
		p.row(clock(e.GetAt()), e.GetActor(), "", e.GetText())
	}
}

// thread is what happened to the task.
func (p *page) thread(events []*taskpoolv1.TaskEvent, names *titles) {
	if len(events) == 0 {
		return
	}
	p.heading("Thread")
	for _, e := range events {
		actor := e.GetActor()
		if e.GetVia() != "" {
			actor += " via " + e.GetVia()
		}
		p.row(clock(e.GetAt()), actor, words.Of(e.GetKind()), happening(e, names))
	}
}

// row is something that was said or done: when and by whom, and what, below each
// other where it has several lines.
func (p *page) row(at, actor, kind, text string) {
	head := p.screen.Paint(terminal.Dim, "  "+at+"  ") + terminal.Line(actor)
	if kind != "" {
		head += "  " + p.screen.Paint(terminal.Cyan, kind)
	}
	lines := strings.Split(strings.TrimRight(terminal.Block(text), "\n"), "\n")
	if len(lines) == 1 {
		p.line(strings.TrimRight(head+"  "+lines[0], " "))
		return
	}
	p.line(head)
	p.indented("      ", strings.Join(lines, "\n"))
}

// related are other tasks, in the order given.
func (p *page) related(heading string, tasks []*taskpoolv1.Task) {
	if len(tasks) == 0 {
		return
	}
	p.heading(heading)
	table := terminal.Table{Heads: []string{"KEY", "STATUS", "TITLE", "WHO"}, Grow: 2}
	for _, t := range tasks {
		table.Add(
			terminal.Cell{Text: t.GetKey()},
			terminal.Cell{Text: words.Of(t.GetStatus()), Style: statusStyle(t.GetStatus())},
			terminal.Cell{Text: t.GetTitle()},
			terminal.Cell{Text: who(t)},
		)
	}
	narrower := p.screen
	if narrower.Width > 2 {
		narrower.Width -= 2
	}
	for line := range strings.Lines(table.Render(narrower)) {
		p.text.WriteString("  " + line)
	}
}

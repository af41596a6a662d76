package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

const (
	// mostAtFirst is how many tasks of a snapshot are shown.
	mostAtFirst = 50
	// mostNames is how many tasks beyond the view are remembered by name.
	mostNames = 1000
	// lookUpTime bounds what a line waits for the names of other tasks.
	lookUpTime = time.Second
)

// live shows changes to people.
type live struct {
	app      *app
	ctx      context.Context
	filtered bool
	begun    bool
	// tasks are those of the view by id, as far as lines need them.
	tasks map[string]*taskpoolv1.Task
	names *titles
}

func newLive(ctx context.Context, a *app, c *client.Client, filtered bool) *live {
	l := &live{app: a, ctx: ctx, filtered: filtered, tasks: map[string]*taskpoolv1.Task{}, names: newTitles(ctx, c)}
	l.names.view = l.tasks
	return l
}

// show writes one change, all its lines at once.
func (l *live) show(change client.Change) error {
	ctx, cancel := context.WithTimeout(l.ctx, lookUpTime)
	defer cancel()
	l.names.ctx, l.names.asked = ctx, 0
	if len(l.names.known) > mostNames {
		clear(l.names.known)
	}
	a := l.app
	// The window may have another size now.
	a.screen = terminal.Detect(a.out, a.env, terminal.Color(a.global.color))
	if change.Snapshot {
		l.inOrder(change.Tasks)
		if !l.begun && len(l.tasks) == 0 {
			l.begun = true
			return a.print(l.present(change.Tasks))
		}
	}
	l.begun = true
	var text strings.Builder
	for _, g := range change.Graphs {
		text.WriteString(l.graph(g))
	}
	lines := 0
	for _, c := range change.Tasks {
		line := l.task(c, change.Snapshot)
		if line == "" {
			continue
		}
		if lines++; !change.Snapshot || lines <= mostAtFirst {
			text.WriteString(line)
		}
	}
	if change.Snapshot && lines > mostAtFirst {
		text.WriteString(a.screen.Paint(terminal.Dim, "and "+count(lines-mostAtFirst, "more task")+", changed or gone meanwhile") + "\n")
	}
	return a.print(text.String())
}

// inOrder puts the changes of a snapshot in the order of creation, departures
// last.
func (l *live) inOrder(changes []*taskpoolv1.TaskChange) {
	slices.SortStableFunc(changes, func(x, y *taskpoolv1.TaskChange) int {
		a, b := x.GetTask(), y.GetTask()
		gone := cmp.Compare(btoi(a == nil), btoi(b == nil))
		if a == nil {
			a = l.tasks[x.GetTaskId()]
		}
		if b == nil {
			b = l.tasks[y.GetTaskId()]
		}
		// T-2 before T-10.
		return cmp.Or(gone, cmp.Compare(len(a.GetKey()), len(b.GetKey())), cmp.Compare(a.GetKey(), b.GetKey()))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// present is what there is before anything changes: a table, and what is not in
// it. Closed tasks are in it only where they were asked for.
func (l *live) present(changes []*taskpoolv1.TaskChange) string {
	var shown []*taskpoolv1.Task
	var more, closed int
	for _, c := range changes {
		t := c.GetTask()
		if t == nil {
			continue
		}
		l.remember(t)
		switch {
		case !l.filtered && isClosed(t.GetStatus()):
			closed++
		case len(shown) == mostAtFirst:
			more++
		default:
			shown = append(shown, t)
		}
	}
	text := ""
	if len(shown) > 0 {
		text = tasksTable(shown).Render(l.app.screen)
	} else {
		note(l.app.err, "no task to show yet")
	}
	var rest []string
	if more > 0 {
		rest = append(rest, count(more, "more task"))
	}
	if closed > 0 {
		rest = append(rest, count(closed, "closed task"))
	}
	if len(rest) > 0 {
		text += l.app.screen.Paint(terminal.Dim, "and "+strings.Join(rest, ", and ")) + "\n"
	}
	if text != "" {
		text += "\n" // what follows is of another kind
	}
	return text
}

// task is the line of one change, "" where there is nothing to say.
func (l *live) task(c *taskpoolv1.TaskChange, snapshot bool) string {
	before, t := l.tasks[c.GetTaskId()], c.GetTask()
	var what string
	style := terminal.Dim
	switch {
	case t != nil:
		if snapshot && before.GetRevision() == t.GetRevision() {
			return "" // nothing happened to it meanwhile
		}
		what, style = announcement(c, before, l.names), statusStyle(t.GetStatus())
		l.remember(t)
	case c.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW:
		what = strings.Join(append(events(c.GetEvents(), nil, l.names), "left the view"), "; ")
	case c.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_DELETED:
		what = "deleted"
	default:
		what = "changed"
	}
	known := t
	if t == nil {
		if known = before; known == nil && c.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW {
			known = l.names.task(c.GetTaskId())
		}
		delete(l.tasks, c.GetTaskId())
	}
	key := known.GetKey()
	if key == "" {
		key = short(c.GetTaskId())
	}
	return l.line(l.when(c), key, what, style, known.GetTitle())
}

// remember keeps of a task what later lines need.
func (l *live) remember(t *taskpoolv1.Task) {
	l.tasks[t.GetId()] = &taskpoolv1.Task{
		Id: t.GetId(), Key: t.GetKey(), Title: t.GetTitle(), Status: t.GetStatus(), Revision: t.GetRevision(),
		UnfinishedDependencyIds: t.GetUnfinishedDependencyIds(), ChildrenTotal: t.GetChildrenTotal(), ChildrenDone: t.GetChildrenDone(),
	}
}

// when a change was made; of a departure without events nobody knows, and it is
// now.
func (l *live) when(c *taskpoolv1.TaskChange) *timestamppb.Timestamp {
	if events := c.GetEvents(); len(events) > 0 {
		return events[len(events)-1].GetAt()
	}
	if at := c.GetTask().GetUpdatedAt(); at != nil {
		return at
	}
	return timestamppb.New(l.app.now())
}

// graph is the line of a change of a graph.
func (l *live) graph(c *taskpoolv1.GraphChange) string {
	g := c.GetGraph()
	if g == nil {
		return l.line(timestamppb.New(l.app.now()), c.GetGraphId(), "graph deleted", terminal.Dim, "")
	}
	return l.line(timestamppb.New(l.app.now()), g.GetId(), "graph "+words.Of(g.GetStatus()), terminal.Plain, g.GetName())
}

// The least columns of a key and of what happened, so that titles stand below
// each other mostly.
const (
	keyColumns  = 5
	whatColumns = 30
	leastTitle  = 16
)

// line is when, what happened to what, and its title, as wide as the screen at
// most.
func (l *live) line(at *timestamppb.Timestamp, key, what string, style terminal.Style, title string) string {
	s := l.app.screen
	when, key, what, title := clock(at), terminal.Line(key), terminal.Line(what), terminal.Line(title)
	key += strings.Repeat(" ", max(0, keyColumns-terminal.Width(key)))
	pad := strings.Repeat(" ", max(0, whatColumns-terminal.Width(what)))
	if s.Width > 0 {
		// What happened may take all but some of the title.
		room := max(s.Width-len(when)-terminal.Width(key)-3*2, 2*leastTitle)
		what = terminal.Cut(what, room-min(terminal.Width(title), leastTitle), s)
		pad = strings.Repeat(" ", max(0, min(whatColumns, room-leastTitle)-terminal.Width(what)))
		title = terminal.Cut(title, room-terminal.Width(what)-len(pad), s)
	}
	if title == "" {
		pad = ""
	} else {
		title = "  " + title
	}
	return fmt.Sprintf("%s  %s  %s%s%s\n", s.Paint(terminal.Dim, when), key, s.Paint(style, what), pad, title)
}

func isClosed(s taskpoolv1.TaskStatus) bool {
	return s == taskpoolv1.TaskStatus_TASK_STATUS_DONE || s == taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) taskList() *cobra.Command {
	var (
		filter filterFlags
		pages  pageFlags
		view   wordFlag[taskpoolv1.TaskView]
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tasks that are not closed, or those that flags select",
		Args:  noArgs,
	}
	cmd.RunE = a.asking(func(ctx context.Context, c *client.Client, cmd *cobra.Command, _ []string) error {
		selected, err := filter.selected(cmd)
		if err != nil {
			return err
		}
		list, err := readTasks(ctx, c, &pages, &taskpoolv1.ReadTaskRequest{Filter: selected, View: view.value})
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printListing(list.json())
		}
		return a.printTasks(list, &pages)
	})
	filter.register(a, cmd)
	filter.registerText(cmd)
	pages.register(cmd)
	cmd.Flags().Var(&view, "view", "how much of each task, with --json: preview, full or compact")
	offer(cmd, "view", fixed(words.All[taskpoolv1.TaskView]()...))
	return cmd
}

// taskPage is what a listing gave.
type taskPage struct {
	tasks []*taskpoolv1.Task
	next  string
	// first is the first page without its tasks: total and cursor.
	first *taskpoolv1.ReadTaskResponse
}

func readTasks(ctx context.Context, c *client.Client, pages *pageFlags, request *taskpoolv1.ReadTaskRequest) (*taskPage, error) {
	list := &taskPage{}
	next, err := pages.collect(func(token string, size int32) (string, int, error) {
		request.PageToken, request.PageSize = token, size
		// The total is of use where there is more than is shown, and where what is
		// shown begins at the beginning.
		request.IncludeTotal = list.first == nil && token == ""
		answer, err := c.Tasks().ReadTask(ctx, request)
		if err != nil {
			return "", 0, err
		}
		list.tasks = append(list.tasks, answer.GetTasks()...)
		if list.first == nil {
			list.first = &taskpoolv1.ReadTaskResponse{
				TotalMatches: answer.GetTotalMatches(), TotalIsExact: answer.GetTotalIsExact(), Cursor: answer.GetCursor(),
			}
		}
		return answer.GetNextPageToken(), len(answer.GetTasks()), nil
	})
	list.next = next
	return list, err
}

func (l *taskPage) json() listing {
	items := make([]proto.Message, len(l.tasks))
	for i, t := range l.tasks {
		items[i] = t
	}
	return listing{name: "tasks", items: items, next: l.next, rest: l.first}
}

// printTasks writes the table, and that there is more where there is.
func (a *app) printTasks(list *taskPage, pages *pageFlags) error {
	if len(list.tasks) == 0 {
		note(a.err, "no task is selected")
		return nil
	}
	if err := a.print(tasksTable(list.tasks).Render(a.screen)); err != nil {
		return err
	}
	if list.next == "" {
		return nil
	}
	return a.printf("\n%s\n", list.more(pages))
}

// tasksTable shows tasks, a line each.
func tasksTable(tasks []*taskpoolv1.Task) *terminal.Table {
	table := &terminal.Table{Heads: []string{"KEY", "STATUS", "PRIORITY", "TITLE", "WHO", "WAITS FOR", "SUBTASKS"}, Grow: 3}
	for _, t := range tasks {
		table.Add(
			terminal.Cell{Text: t.GetKey()},
			terminal.Cell{Text: words.Of(t.GetStatus()), Style: statusStyle(t.GetStatus())},
			terminal.Cell{Text: words.Of(t.GetPriority()), Style: priorityStyle(t.GetPriority())},
			terminal.Cell{Text: t.GetTitle()},
			terminal.Cell{Text: who(t)},
			terminal.Cell{Text: count(len(t.GetUnfinishedDependencyIds()), "task")},
			terminal.Cell{Text: children(t)},
		)
	}
	return table
}

// more says how much is not shown, and how to see it.
func (l *taskPage) more(pages *pageFlags) string {
	first := "These are not all: there are more."
	if total := l.first.GetTotalMatches(); pages.token == "" && total > int64(len(l.tasks)) {
		left, least := total-int64(len(l.tasks)), ""
		if !l.first.GetTotalIsExact() {
			least = "at least "
		}
		first = fmt.Sprintf("These are not all: %s%d more, %s%d together.", least, left, least, total)
	}
	return first + fmt.Sprintf(" See them with --limit 0, or the next with --page-token %s", l.next)
}

// who has the task, or should do it.
func who(t *taskpoolv1.Task) string {
	switch {
	case t.GetHolder() != "":
		return t.GetHolder()
	case t.GetAssignee() != "" && t.GetClosedAt() == nil:
		return t.GetAssignee() + " (assigned)"
	}
	return t.GetAssignee()
}

// count is "2 tasks", "" for none.
func count(n int, noun string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// children is how many are closed of how many.
func children(t *taskpoolv1.Task) string {
	if t.GetChildrenTotal() == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", t.GetChildrenDone(), t.GetChildrenTotal())
}

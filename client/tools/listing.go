package tools

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// maxListBytes is about how long the answer with a list may be. A list that would
// be longer ends earlier and says how to go on.
const maxListBytes = 24_000

// maxRowBytes is about how long one task of a list may be, before less of it is shown.
const maxRowBytes = maxListBytes / 2

// list is a page of the tasks that fit, and a sentence on what is left.
func list(ctx context.Context, c *client.Client, a arguments) (string, error) {
	before, token, err := position(a.text("page_token"))
	if err != nil {
		return "", err
	}
	limit := usualLimit
	if n, given := a["limit"].(int); given {
		limit = n
	}
	req := &taskpoolv1.ReadTaskRequest{Filter: filter(a), PageSize: int32(limit), PageToken: token, IncludeTotal: true}
	for {
		resp, err := c.Tasks().ReadTask(ctx, req)
		if err != nil {
			return "", err
		}
		rows, err := rowsOf(resp.GetTasks())
		if err != nil {
			return "", err
		}
		// A page ends where its token says, so one that is too long is read again,
		// as short as it has to be.
		if fit := fitting(rows); fit < len(rows) && int32(fit) < req.PageSize {
			req.PageSize = int32(fit)
			continue
		}
		return "[" + strings.Join(rows, ",") + closing(rows) + "\n" + left(resp, before, len(rows)), nil
	}
}

func closing(rows []string) string {
	if len(rows) == 0 {
		return "]"
	}
	return "\n]"
}

// fitting is how many rows an answer holds, at least one.
func fitting(rows []string) int {
	size := 0
	for i, row := range rows {
		if size += len(row); size > maxListBytes && i > 0 {
			return i
		}
	}
	return len(rows)
}

// left says how many tasks there are and how to get those that were not shown.
func left(resp *taskpoolv1.ReadTaskResponse, before, shown int) string {
	total := count(int(resp.GetTotalMatches()), "task fits", "tasks fit")
	if !resp.GetTotalIsExact() {
		total = "at least " + total
	}
	switch next := resp.GetNextPageToken(); {
	case next != "":
		return fmt.Sprintf("%s; these are %d to %d. For those that follow call read_task with the same filters and page_token %q.",
			total, before+1, before+shown, strconv.Itoa(before+shown)+"."+next)
	case shown == 0 && before == 0:
		return "No task fits. Without filters read_task lists all that are not closed; closed ones are listed by status done or cancelled."
	case shown == 0:
		return fmt.Sprintf("No more tasks fit; %s in all.", total)
	case before > 0:
		return fmt.Sprintf("%s; these are the last %d.", total, shown)
	}
	return total + "; these are all."
}

// position takes a page_token apart: how many tasks were shown, and the server's.
func position(token string) (before int, rest string, err error) {
	if token == "" {
		return 0, "", nil
	}
	shown, rest, _ := strings.Cut(token, ".")
	before, err = strconv.Atoi(shown)
	if err != nil || before < 0 || rest == "" {
		return 0, "", badArguments{"page_token is no token of read_task: send the one that the last list gave, or leave it out to begin anew"}
	}
	return before, rest, nil
}

// filter is what the arguments select; nil for what is listed without any.
func filter(a arguments) *taskpoolv1.TaskFilter {
	available, _ := a["available"].(bool)
	claimable, _ := a["claimable"].(bool)
	f := &taskpoolv1.TaskFilter{
		Available: available, Claimable: claimable, Assignee: a.named("assignee"), Unassigned: a.isNone("assignee"), ParentId: a.text("parent_id"), Labels: a.labels("labels"), Text: a.text("text"),
	}
	// The words were checked against the schema.
	if a.has("status") {
		status, _ := words.Parse[taskpoolv1.TaskStatus](a.text("status"), "")
		f.Statuses = []taskpoolv1.TaskStatus{status}
	}
	if a.has("priority") {
		priority, _ := words.Parse[taskpoolv1.TaskPriority](a.text("priority"), "")
		f.Priorities = []taskpoolv1.TaskPriority{priority}
	}
	if a.has("type") {
		sort, _ := words.Parse[taskpoolv1.TaskType](a.text("type"), "")
		f.Types = []taskpoolv1.TaskType{sort}
	}
	return f
}

// rowsOf are the tasks as members of a JSON array.
func rowsOf(tasks []*taskpoolv1.Task) ([]string, error) {
	rows := make([]string, len(tasks))
	for i, t := range tasks {
		text, err := row(t, rowItems).json()
		if err == nil && len(text) > maxRowBytes {
			text, err = row(t, 1).json()
		}
		if err != nil {
			return nil, err
		}
		rows[i] = "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return rows, nil
}

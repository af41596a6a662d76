package tools

import (
	"context"
	"fmt"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Tutorial explains the pool and the tools to an agent, with the limits that the
// pool has now: a text for its system prompt. Errors: those of GetPool.
func (p *TaskToolPackage) Tutorial(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := p.client.Pools().GetPool(ctx, &taskpoolv1.GetPoolRequest{})
	if err != nil {
		return "", fmt.Errorf("read the limits of the task pool: %w", err)
	}
	return tutorial(resp.GetPool().GetLimits()), nil
}

func tutorial(l *taskpoolv1.PoolLimits) string {
	items := func(count, length int64) string {
		return fmt.Sprintf("at most %d items of %d characters", count, length)
	}
	plan := items(l.GetPlanFieldCount(), l.GetPlanFieldLength())
	return strings.Join([]string{
		"# The task pool",
		"",
		"You share a pool of tasks with other agents and people. A task is a small piece of work that is planned so well that whoever takes it can begin at once. " +
			"Everything is shared: others see what you change as you change it, and may change it, too.",
		"",
		"## How a task lives",
		"",
		"- pending: it waits for other tasks. ready: it can be taken. Both are derived from dependencies: a task becomes ready by itself when all that it depends on is done, and nobody sets it to pending.",
		"- in_progress: someone works on it. Setting it takes the task for you. If another has it, you are refused: take another one, do not try again.",
		"- done: it is finished. cancelled: it is not to be done, which only who created it or the operator can say. blocked: something outside stops it; set it to ready when that is over.",
		"- review: handed in, waits for a verdict. failed: given up by the pool. Both come about by themselves.",
		"- A task that is assigned to another can't be taken.",
		"- ready, in_progress, done, blocked and cancelled can be set with update_task.",
		"",
		"## What a task says",
		"",
		fmt.Sprintf("- title: short, specific, imperative; at most %d characters. It is all that is required.", l.GetTitleLength()),
		fmt.Sprintf("- description: the goal, what and why; at most %d characters. body: anything longer; at most %d.", l.GetDescriptionLength(), l.GetBodyLength()),
		"- acceptance_criteria: when it is done, each pass or fail; " + items(l.GetAcceptanceCriteriaCount(), l.GetAcceptanceCriteriaLength()) + ".",
		"- steps, context, constraints, out_of_scope, verification, edge_cases: the plan; each " + plan + ".",
		fmt.Sprintf("- links: URLs; at most %d.", l.GetLinksPerTask()),
		"- priority: low, medium or high; most tasks have none. type: feature, bug, refactor, chore or research.",
		fmt.Sprintf("- history: the progress log, which is only added to; at most %d characters together.", l.GetHistoryLength()),
		fmt.Sprintf("- dependencies: tasks that come first; at most %d. Circles are refused.", l.GetDependencies()),
		fmt.Sprintf("- A task can be a part of another (parent_id), which can't be closed before it: at most %d parts, %d levels deep.", l.GetChildren(), l.GetDepth()),
		fmt.Sprintf("- labels: at most %d, with keys of %d and values of %d characters. reason: at most %d characters.",
			l.GetLabels(), l.GetLabelKeyLength(), l.GetLabelValueLength(), l.GetReasonLength()),
		"",
		"## The tools",
		"",
		"- create_task plans a task. Fill every field that adds something.",
		"- read_task lists tasks (claimable, available, status, priority, type, assignee, parent_id, labels and text narrow the list), or reads one in full by its id. " +
			fmt.Sprintf("Lists cut long texts to %d characters and say how to go on where there are more tasks.", l.GetHistoryPreviewLength()),
		"- update_task changes one. Take a task with in_progress before you work on it, add to its history on the way, and record a completion summary when you set it to done.",
		"",
		"Ids: the whole id, the key (T-12), or at least the first 8 characters of the id.",
		"Mistakes come back as a text that says what was wrong and what to do; then nothing was changed. Correct the call and send it again.",
		"",
	}, "\n")
}

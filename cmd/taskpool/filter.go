package main

import (
	"errors"

	"github.com/spf13/cobra"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// filterFlags are the flags that select tasks, one for each condition.
type filterFlags struct {
	statuses    wordsFlag[taskpoolv1.TaskStatus]
	priorities  wordsFlag[taskpoolv1.TaskPriority]
	kinds       wordsFlag[taskpoolv1.TaskType]
	labels      pairsFlag
	closedSince instantFlag
	filter      taskpoolv1.TaskFilter // the rest
}

func (s *filterFlags) register(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&s.statuses, "status", "in any of these; repeat, or divide by commas")
	f.BoolVar(&s.filter.Available, "available", false, "not closed, and all that must be done first is done")
	f.BoolVar(&s.filter.Claimable, "claimable", false, "what --actor could claim right now")
	s.registerKind(cmd)
	f.StringVar(&s.filter.Assignee, "assignee", "", "assigned to this `member`")
	f.BoolVar(&s.filter.Unassigned, "unassigned", false, "assigned to nobody")
	f.StringVar(&s.filter.Holder, "holder", "", "held by this `member`")
	f.StringVar(&s.filter.Reviewer, "reviewer", "", "to be reviewed by this `member`")
	f.StringVar(&s.filter.CreatedBy, "created-by", "", "filed by this `member`")
	f.BoolVar(&s.filter.TopLevel, "top-level", false, "without a parent")
	f.StringVar(&s.filter.GraphId, "graph", "", "of this `graph`")
	f.StringVar(&s.filter.Agent, "agent", "", "for this `type` of worker")
	s.closedSince.now = a.now
	f.Var(&s.closedSince, "closed-since", "also those closed since: 2026-01-02T15:04:05Z, or -24h, -7d")
	f.BoolVar(&s.filter.IncludeClosed, "all", false, "closed tasks too")
	offer(cmd, "status", listed(words.All[taskpoolv1.TaskStatus]()...))
}

// registerKind adds the conditions that say what kind of task it is, whoever has it.
func (s *filterFlags) registerKind(cmd *cobra.Command) {
	f := cmd.Flags()
	s.priorities.none, s.kinds.none = "none", "none"
	f.Var(&s.priorities, "priority", "with any of these; none: without a priority")
	f.Var(&s.kinds, "type", "of any of these; none: without a type")
	f.StringVar(&s.filter.ParentId, "parent", "", "children of this `task`")
	f.Var(&s.labels, "label", "with this label; repeat for more, all must be there")
	offer(cmd, "priority", listed(append(words.All[taskpoolv1.TaskPriority](), "none")...))
	offer(cmd, "type", listed(append(words.All[taskpoolv1.TaskType](), "none")...))
}

// registerText adds the condition that only a listing knows.
func (s *filterFlags) registerText(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.filter.Text, "text", "", "with this `text` in title, description, body or key")
}

// selected is the filter that the flags make.
func (s *filterFlags) selected(cmd *cobra.Command) (*taskpoolv1.TaskFilter, error) {
	if err := errors.Join(either(cmd, "assignee", "unassigned"), either(cmd, "parent", "top-level")); err != nil {
		return nil, err
	}
	s.filter.Statuses = s.statuses.values
	s.filter.ClosedSince = s.closedSince.value
	return s.kind(), nil
}

// kind is the filter that the flags of registerKind make, with what is set already.
func (s *filterFlags) kind() *taskpoolv1.TaskFilter {
	s.filter.Priorities = s.priorities.values
	s.filter.Types = s.kinds.values
	s.filter.Labels = s.labels
	return &s.filter
}

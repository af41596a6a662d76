package taskpb

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Rules are a pool's rules.
func Rules(r task.Rules) (taskpoolv1.EditRule, taskpoolv1.ReviewDefault) {
	edit, review := taskpoolv1.EditRule_EDIT_RULE_ANYONE, taskpoolv1.ReviewDefault_REVIEW_DEFAULT_NONE
	if r.EditRule == task.EditByFiler {
		edit = taskpoolv1.EditRule_EDIT_RULE_FILER
	}
	if r.ReviewDefault == task.ReviewByFiler {
		review = taskpoolv1.ReviewDefault_REVIEW_DEFAULT_FILER
	}
	return edit, review
}

// ReadRules reads the rules of a new pool; unspecified is the default.
func ReadRules(v *task.Violations, edit taskpoolv1.EditRule, review taskpoolv1.ReviewDefault) task.Rules {
	var r task.Rules
	switch edit {
	case taskpoolv1.EditRule_EDIT_RULE_UNSPECIFIED, taskpoolv1.EditRule_EDIT_RULE_ANYONE:
	case taskpoolv1.EditRule_EDIT_RULE_FILER:
		r.EditRule = task.EditByFiler
	default:
		v.Add("edit_rule", "has the unknown value %d: use anyone or filer, or leave it out", edit)
	}
	switch review {
	case taskpoolv1.ReviewDefault_REVIEW_DEFAULT_UNSPECIFIED, taskpoolv1.ReviewDefault_REVIEW_DEFAULT_NONE:
	case taskpoolv1.ReviewDefault_REVIEW_DEFAULT_FILER:
		r.ReviewDefault = task.ReviewByFiler
	default:
		v.Add("review_default", "has the unknown value %d: use none or filer, or leave it out", review)
	}
	return r
}

// Counts is how many tasks have each status.
func Counts(by map[task.Status]int64) *taskpoolv1.PoolCounts {
	m := &taskpoolv1.PoolCounts{
		Pending: by[task.Pending], Ready: by[task.Ready], InProgress: by[task.InProgress], Review: by[task.Review],
		Blocked: by[task.Blocked], Done: by[task.Done], Cancelled: by[task.Cancelled], Failed: by[task.Failed],
	}
	for _, n := range by {
		m.Total += n
	}
	return m
}

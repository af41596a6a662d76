package task

import (
	"iter"
	"maps"
	"slices"
)

// Limits are what one pool allows. Lengths are in Unicode code points, counts
// in items. Every value is at least 1. Captured when the pool is opened, so a
// later change of the environment does nothing to an open pool.
type Limits struct {
	// TitleLength … HistoryPreviewLength are llm-chat-task's nine.
	TitleLength              int
	DescriptionLength        int
	AcceptanceCriteriaCount  int
	AcceptanceCriteriaLength int // of one item
	LinksPerTask             int
	PlanFieldCount           int // items in each of the six plan lists
	PlanFieldLength          int // of one item
	HistoryLength            int // of all rendered lines joined by newline
	HistoryPreviewLength     int // long text in listings is cut to this

	BodyLength       int
	CommentLength    int
	ReasonLength     int
	Depth            int // of nesting; a top-level task has depth 0
	Children         int // of one task
	Dependencies     int // of one task
	Dependents       int // of one task
	Labels           int // of one task
	LabelKeyLength   int
	LabelValueLength int
	LinkLength       int // of one link
	ResultLength     int // of a hand-in
	GateOutputLength int // of one gate command's output
	EventsPerTask    int
	TasksPerBatch    int // in one CreateTasks
}

// LimitCeiling is the most any limit can be: a message holds 16 MiB, so no
// longer text could ever arrive. Some limits have a lower ceiling: a revision
// holds at most 10,000 changes, so a batch, a task's dependents and the like
// must stay below that; see limitTable.
const LimitCeiling = 1 << 24

// The ceilings of what a change may name one by one.
const (
	maxDependencies = 10_000
	maxLabels       = 1_000
)

// limit is one row of limitTable.
type limit struct {
	// name is the field of the API's PoolLimits and the key in LimitOptions.
	name string
	// env is the environment variable.
	env string
	// fallback is the default.
	fallback int
	ceiling  int
	value    func(*Limits) *int
}

// limitTable is the one list of limits: names, variables, defaults, ceilings.
// The first nine rows are llm-chat-task's, with its variables and defaults.
var limitTable = [...]limit{
	{"title_length", "LLM_CHAT_TASK_MAX_TITLE_LENGTH", 100, LimitCeiling, func(l *Limits) *int { return &l.TitleLength }},
	{"description_length", "LLM_CHAT_TASK_MAX_DESCRIPTION_LENGTH", 500, LimitCeiling, func(l *Limits) *int { return &l.DescriptionLength }},
	{"acceptance_criteria_count", "LLM_CHAT_TASK_MAX_ACCEPTANCE_CRITERIA_COUNT", 10, 10_000, func(l *Limits) *int { return &l.AcceptanceCriteriaCount }},
	{"acceptance_criteria_length", "LLM_CHAT_TASK_MAX_ACCEPTANCE_CRITERIA_LENGTH", 200, LimitCeiling, func(l *Limits) *int { return &l.AcceptanceCriteriaLength }},
	{"links_per_task", "LLM_CHAT_TASK_MAX_LINKS_PER_TASK", 20, 10_000, func(l *Limits) *int { return &l.LinksPerTask }},
	{"plan_field_count", "LLM_CHAT_TASK_MAX_PLAN_FIELD_COUNT", 20, 10_000, func(l *Limits) *int { return &l.PlanFieldCount }},
	{"plan_field_length", "LLM_CHAT_TASK_MAX_PLAN_FIELD_LENGTH", 300, LimitCeiling, func(l *Limits) *int { return &l.PlanFieldLength }},
	{"history_length", "LLM_CHAT_TASK_MAX_HISTORY_LENGTH", 10_000, LimitCeiling, func(l *Limits) *int { return &l.HistoryLength }},
	{"history_preview_length", "LLM_CHAT_TASK_HISTORY_PREVIEW_LENGTH", 200, LimitCeiling, func(l *Limits) *int { return &l.HistoryPreviewLength }},

	{"body_length", "TASKPOOL_MAX_BODY_LENGTH", 20_000, LimitCeiling, func(l *Limits) *int { return &l.BodyLength }},
	{"comment_length", "TASKPOOL_MAX_COMMENT_LENGTH", 20_000, LimitCeiling, func(l *Limits) *int { return &l.CommentLength }},
	{"reason_length", "TASKPOOL_MAX_REASON_LENGTH", 500, LimitCeiling, func(l *Limits) *int { return &l.ReasonLength }},
	{"depth", "TASKPOOL_MAX_DEPTH", 3, 1_000, func(l *Limits) *int { return &l.Depth }},
	{"children", "TASKPOOL_MAX_CHILDREN", 20, LimitCeiling, func(l *Limits) *int { return &l.Children }},
	{"dependencies", "TASKPOOL_MAX_DEPENDENCIES", 200, maxDependencies, func(l *Limits) *int { return &l.Dependencies }},
	{"dependents", "TASKPOOL_MAX_DEPENDENTS", 1_000, 5_000, func(l *Limits) *int { return &l.Dependents }},
	{"labels", "TASKPOOL_MAX_LABELS", 32, maxLabels, func(l *Limits) *int { return &l.Labels }},
	{"label_key_length", "TASKPOOL_MAX_LABEL_KEY_LENGTH", 63, LimitCeiling, func(l *Limits) *int { return &l.LabelKeyLength }},
	{"label_value_length", "TASKPOOL_MAX_LABEL_VALUE_LENGTH", 256, LimitCeiling, func(l *Limits) *int { return &l.LabelValueLength }},
	{"link_length", "TASKPOOL_MAX_LINK_LENGTH", 2_048, LimitCeiling, func(l *Limits) *int { return &l.LinkLength }},
	{"result_length", "TASKPOOL_MAX_RESULT_LENGTH", 65_536, LimitCeiling, func(l *Limits) *int { return &l.ResultLength }},
	{"gate_output_length", "TASKPOOL_MAX_GATE_OUTPUT_LENGTH", 16_384, LimitCeiling, func(l *Limits) *int { return &l.GateOutputLength }},
	{"events_per_task", "TASKPOOL_MAX_EVENTS_PER_TASK", 20_000, LimitCeiling, func(l *Limits) *int { return &l.EventsPerTask }},
	{"tasks_per_batch", "TASKPOOL_MAX_TASKS_PER_BATCH", 10_000, 10_000, func(l *Limits) *int { return &l.TasksPerBatch }},
}

// LimitOptions are limits set explicitly for one pool, by name ("title_length");
// a name that is absent is left to the environment and the default. They are
// what a pool keeps; the resolved Limits are not kept.
type LimitOptions map[string]int64

// Check reports names that are no limit. Values are never refused: they are
// clamped.
func (o LimitOptions) Check() Violations {
	var v Violations
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.ContainsFunc(limitTable[:], func(l limit) bool { return l.name == name }) {
			v.Add(shown(name), "is no limit: the limits are %s", list(LimitNames()))
		}
	}
	return v
}

// ResolveLimits gives the limits of a pool: an explicit option wins, then the
// environment, then the default. Every value, also an explicit one, is clamped
// to at least 1 and at most its ceiling. getenv is os.LookupEnv outside tests;
// nil reads no environment. Unknown names in explicit are ignored.
func ResolveLimits(explicit LimitOptions, getenv func(string) (string, bool)) Limits {
	var limits Limits
	for _, row := range limitTable {
		*row.value(&limits) = row.resolve(explicit, getenv)
	}
	return limits
}

// DefaultLimits are the limits without options and environment.
func DefaultLimits() Limits { return ResolveLimits(nil, nil) }

// HighestLimits are the ceilings: what no pool's limits are above.
func HighestLimits() Limits {
	var limits Limits
	for _, row := range limitTable {
		*row.value(&limits) = row.ceiling
	}
	return limits
}

// All yields every limit by name, in a fixed order.
func (l Limits) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, row := range limitTable {
			if !yield(row.name, *row.value(&l)) {
				return
			}
		}
	}
}

// LimitNames lists the names of all limits, in a fixed order.
func LimitNames() []string {
	names := make([]string, 0, len(limitTable))
	for _, row := range limitTable {
		names = append(names, row.name)
	}
	return names
}

// LimitVariable is the environment variable of the limit with that name; false
// when there is no such limit.
func LimitVariable(name string) (string, bool) {
	for _, row := range limitTable {
		if row.name == name {
			return row.env, true
		}
	}
	return "", false
}

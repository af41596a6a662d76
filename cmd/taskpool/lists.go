package main

import (
	"github.com/spf13/pflag"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// listField is a list of texts of a task, with the flag that gives one item.
type listField struct {
	flag, help string
	heading    string // in the page of a task
	draft      func(*taskpoolv1.NewTask) *[]string
	change     func(*taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList
	items      func(*taskpoolv1.Task) []string
}

// listFields are all of them, in the order in which people read them.
var listFields = []listField{
	{
		"accept", "what can be checked when it is done", "Acceptance criteria",
		func(t *taskpoolv1.NewTask) *[]string { return &t.AcceptanceCriteria },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.AcceptanceCriteria },
		(*taskpoolv1.Task).GetAcceptanceCriteria,
	},
	{
		"step", "how to go about it", "Steps",
		func(t *taskpoolv1.NewTask) *[]string { return &t.Steps },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.Steps },
		(*taskpoolv1.Task).GetSteps,
	},
	{
		"constraint", "what must be kept to", "Constraints",
		func(t *taskpoolv1.NewTask) *[]string { return &t.Constraints },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.Constraints },
		(*taskpoolv1.Task).GetConstraints,
	},
	{
		"out-of-scope", "what is left out", "Out of scope",
		func(t *taskpoolv1.NewTask) *[]string { return &t.OutOfScope },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.OutOfScope },
		(*taskpoolv1.Task).GetOutOfScope,
	},
	{
		"edge-case", "an unusual case to cover", "Edge cases",
		func(t *taskpoolv1.NewTask) *[]string { return &t.EdgeCases },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.EdgeCases },
		(*taskpoolv1.Task).GetEdgeCases,
	},
	{
		"verify", "how to check the result", "Verification",
		func(t *taskpoolv1.NewTask) *[]string { return &t.Verification },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.Verification },
		(*taskpoolv1.Task).GetVerification,
	},
	{
		"context", "what one needs to know first", "Context",
		func(t *taskpoolv1.NewTask) *[]string { return &t.Context },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.Context },
		(*taskpoolv1.Task).GetContext,
	},
	{
		"link", "a URL that belongs to it", "Links",
		func(t *taskpoolv1.NewTask) *[]string { return &t.Links },
		func(r *taskpoolv1.UpdateTaskRequest) **taskpoolv1.StringList { return &r.Links },
		(*taskpoolv1.Task).GetLinks,
	},
}

// listValues are what the flags of the lists were given, by flag.
type listValues map[string]*textsFlag

// listFlags adds a flag for each list.
func listFlags(f *pflag.FlagSet, suffix string) listValues {
	values := listValues{}
	for _, list := range listFields {
		values[list.flag] = &textsFlag{}
		f.Var(values[list.flag], list.flag, list.help+suffix)
	}
	return values
}

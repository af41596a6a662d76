package tools

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taskpool-dev/taskpool/client"
)

// unknown says what is known of a call that got no answer.
func (d definition) unknown() string {
	if d.changes {
		return "whether it was done is not known: look with read_task before you do it again"
	}
	return "nothing was changed: call it again"
}

// refused begins the text of a refusal.
func (d definition) refused(why string) string {
	if !d.changes {
		return d.name + " was refused: " + sentence(why)
	}
	return d.name + " was refused, nothing was changed: " + sentence(strings.ReplaceAll(why, "; nothing was changed", ""))
}

// explain is an error as a text for the agent: what is wrong, and what to do.
func (d definition) explain(err error) string {
	var bad badArguments
	if errors.As(err, &bad) {
		return d.refused(bad.Error())
	}
	details := client.Details(err)
	switch code := status.Code(err); {
	case client.IsCommitUnknown(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		code == codes.DeadlineExceeded, code == codes.Canceled, code == codes.Unknown, code == codes.Internal:
		return d.name + " got no answer from the task pool: " + d.unknown() + "."
	case client.IsUnavailable(err) && details.Reason == "":
		return d.name + " could not reach the task pool: " + d.unknown() + ". Wait a moment first; if it stays so, tell the one you work for."
	case client.IsUnavailable(err):
		return d.name + ": the task pool can't do it now, nothing was changed. Wait a moment and call it again; if it stays so, tell the one you work for."
	case details.Reason == "":
		return d.refused(status.Convert(err).Message())
	case len(details.Violations) > 0:
		said := make([]string, len(details.Violations))
		for i, v := range details.Violations {
			said[i] = strings.TrimSpace(argument(v.Field) + " " + fields.Replace(v.Description))
		}
		return d.refused(strings.Join(said, "; "))
	}
	return d.refused(renamed(details.Message))
}

// The names of the API's fields that are other than those of the arguments.
var fields = strings.NewReplacer(
	"history_entry", "history",
	"remove_dependency_ids[0]", "remove_dependency_id",
	"add_dependency_ids[0]", "dependency_id",
	"set_labels", "labels",
	"filter.statuses[0]", "status",
	"filter.priorities[0]", "priority",
	"filter.types[0]", "type",
	"filter.", "",
)

// argument is the argument that a field of the API was made of.
func argument(field string) string { return fields.Replace(strings.TrimPrefix(field, "task.")) }

var subject = regexp.MustCompile(`^(task\.)?[a-z_]+(\[\d+\])?(\.[a-z_]+)*: `)

// renamed is a message of the server that may begin with a field's path.
func renamed(message string) string {
	if path := subject.FindString(message); path != "" {
		return argument(path) + message[len(path):]
	}
	return message
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

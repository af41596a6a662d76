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

// unknown says what to do after a call that got no answer.
func (d definition) unknown() string {
	if d.changes {
		return "whether it was done is not known: wait a moment, and look with read_task before you do it again"
	}
	return "wait a moment and call it again"
}

const stays = "; if it stays so, tell the one you work for"

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
		return d.name + " got no answer from the task pool: " + d.unknown() + stays + "."
	case client.IsUnavailable(err) && details.Reason == "":
		return d.name + " could not reach the task pool: " + d.unknown() + stays + "."
	case client.IsUnavailable(err):
		return d.refused("the task pool can't do it now; wait a moment and call it again" + stays)
	case code == codes.ResourceExhausted && details.Reason == "":
		return d.refused("the call is larger than the task pool takes at once (16 MiB): shorten the longest texts, and put what is long elsewhere and link to it")
	case code == codes.PermissionDenied:
		return d.refused(strings.TrimSuffix(renamed(details.Message), ".") + ". Leave it to them and go on with another task, or ask the one you work for")
	case details.Reason == reasonPoolNotFound, len(details.Violations) > 0 && details.Violations[0].Field == actorField:
		return d.refused("these tools are not set up right (" + details.Message + "). You can't mend that: tell the one you work for")
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

// What only those who set the tools up can mend.
const (
	reasonPoolNotFound = "POOL_NOT_FOUND"
	actorField         = "taskpool-actor"
)

// The names of the API's fields that are other than those of the arguments.
var fields = strings.NewReplacer(
	"history_entry", "history",
	"remove_dependency_ids[0]", "remove_dependency_id",
	"add_dependency_ids[0]", "dependency_id",
	"remove_dependency_ids", "remove_dependency_id",
	"add_dependency_ids", "dependency_id",
	"set_labels", "labels",
	"filter.statuses[0]", "status",
	"filter.priorities[0]", "priority",
	"filter.types[0]", "type",
	"filter.", "",
)

// argument is the argument that a field of the API was made of.
func argument(field string) string { return fields.Replace(strings.TrimPrefix(field, "task.")) }

var subject = regexp.MustCompile(`^(task\.)?[a-z_]+(\[\d+\])?(\.[a-z_]+)*: `)

// renamed is a message of the server, which may begin with a field's path and name
// others.
func renamed(message string) string {
	path := subject.FindString(message)
	return argument(path) + fields.Replace(message[len(path):])
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

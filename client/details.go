package client

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// ErrorDetails is what an error says for programs. What it does not say is zero.
type ErrorDetails struct {
	// Reason is as the function of that name gives it.
	Reason string
	// Message is the server's sentence for people and agents.
	Message string

	// Violations are all things wrong with the request.
	Violations []Violation
	// TaskID is the task it is about.
	TaskID string
	// Holder is the member in whose hands the task is, since when, and until
	// when (zero: until released).
	Holder    string
	Since     time.Time
	ExpiresAt time.Time
	// Allowed are the statuses that are possible now, such as "in_progress".
	Allowed []string
	// Path is a cycle, its first and last the same: task ids, and "ref:NAME" for
	// tasks not yet created.
	Path []string
	// Related are ids of the tasks behind the refusal: unfinished dependencies,
	// dependents, open children; or the candidates of a short name.
	Related []string
	// WhoMay are those who may: member ids and the words filer, assignee,
	// holder, reviewer, operator.
	WhoMay []string
	// Expected and Current are versions of the task.
	Expected, Current int64
	// Oldest and Head are cursors that work.
	Oldest, Head string
	// RetryAfter is when trying again may help; zero: it does not.
	RetryAfter time.Duration

	// Metadata has all of it, under the names that ErrorReason lists.
	Metadata map[string]string
}

// Violation is one thing wrong with a request.
type Violation struct {
	// Field is its path, such as "task.steps[2]".
	Field string
	// Description continues it: "is longer than …".
	Description string
}

// Details takes apart an error of the server. It is zero for nil and for errors
// that no taskpool server sent.
func Details(err error) ErrorDetails {
	s, info := taskpoolStatus(err)
	if info == nil {
		return ErrorDetails{}
	}
	m := info.GetMetadata()
	d := ErrorDetails{
		Reason: info.GetReason(), Message: s.Message(),
		TaskID: m["task_id"], Holder: m["holder"], Since: instant(m["since"]), ExpiresAt: instant(m["expires_at"]),
		Allowed: split(m["allowed"]), Path: split(m["path"]), WhoMay: split(m["who_may"]),
		Expected: number(m["expected"]), Current: number(m["current"]),
		Oldest: m["oldest"], Head: m["head"],
		Metadata: maps.Clone(m),
	}
	for _, name := range []string{"unfinished_ids", "open_child_ids", "dependent_ids", "child_ids", "candidate_ids", "dependency_id"} {
		d.Related = append(d.Related, split(m[name])...)
	}
	for _, detail := range s.Details() {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				d.Violations = append(d.Violations, Violation{Field: v.GetField(), Description: v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			d.RetryAfter = detail.GetRetryDelay().AsDuration()
		}
	}
	return d
}

// split reads a list of metadata.
func split(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, ",")
}

// instant reads an instant of metadata; what can't be read is zero.
func instant(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// number reads a number of metadata; what can't be read is zero.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

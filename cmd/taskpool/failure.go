package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// usageError says that the program was used wrongly.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// complain writes an error for people: a sentence, and below it what belongs to
// it, a line each. Text from elsewhere can't drive the terminal.
func (a *app) complain(err error) {
	sentence, more := explain(err)
	lines := strings.Split(terminal.Block(sentence), "\n")
	fmt.Fprintf(a.err, "taskpool: %s\n", lines[0])
	for _, line := range append(lines[1:], more...) {
		fmt.Fprintf(a.err, "  %s\n", terminal.Line(line))
	}
}

// explain is what to say about err.
func explain(err error) (sentence string, more []string) {
	if own := (*told)(nil); errors.As(err, &own) {
		return own.sentence, own.more
	}
	details := client.Details(err)
	sentence = details.Message
	if details.Reason == "" {
		sentence = err.Error()
	}
	return withDetails(sentence, details)
}

// withDetails adds what the sentence doesn't say itself.
func withDetails(sentence string, details client.ErrorDetails) (string, []string) {
	var more []string
	switch n := len(details.Violations); {
	case n == 1:
		sentence = violation(details.Violations[0])
	case n > 1:
		sentence = fmt.Sprintf("%d things are wrong with the request:", n)
		for _, v := range details.Violations {
			more = append(more, violation(v))
		}
	}
	if path := arrows(details.Path); path != "" && !strings.Contains(sentence, path) {
		more = append(more, "path: "+path)
	}
	return sentence, more
}

// violation is one on a line.
func violation(v client.Violation) string {
	if v.Field == "" || strings.HasPrefix(v.Description, v.Field) {
		return v.Description
	}
	return v.Field + " " + v.Description
}

// arrows shows a cycle, tasks that are not created yet by their ref.
func arrows(path []string) string {
	shown := make([]string, len(path))
	for i, one := range path {
		shown[i] = strings.TrimPrefix(one, "ref:")
	}
	return strings.Join(shown, " → ")
}

// told is an error with all that is to be said about it.
type told struct {
	cause    error
	sentence string
	more     []string
}

func (t *told) Error() string { return t.sentence }
func (t *told) Unwrap() error { return t.cause }

// note writes a line for people where it is not mixed with the output.
func note(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, terminal.Line(fmt.Sprintf(format, args...)))
}

package main

import (
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// printf writes text that may hold the words of others.
func (a *app) printf(format string, args ...any) error {
	return a.print(terminal.Block(fmt.Sprintf(format, args...)))
}

// print writes text that is safe already.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.out, text)
	return err
}

// clock is an instant for people, "" where there is none. UTC, so that two
// people who compare notes see the same.
func clock(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return at.AsTime().UTC().Format("2006-01-02 15:04:05Z")
}

// span is a duration without its fractions of a second.
func span(d time.Duration) string { return d.Round(time.Second).String() }

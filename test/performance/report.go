package main

import (
	"fmt"
	"strings"
	"time"
)

// report is the page that a run writes.
type report struct {
	machine  string
	rows     []string
	missed   []string
	profiles []string
	took     time.Duration
	turn     time.Duration
	rounds   int
}

// atLeast is a row whose aim is a lower bound.
func (r *report) atLeast(work, against string, aim float64, got spread, seen string) {
	r.row(work, against, fmt.Sprintf("≥ %g", aim), got.String(), got.median >= aim, seen)
}

// atMost is a row whose aim is an upper bound.
func (r *report) atMost(work, against string, aim float64, got spread, seen string) {
	r.row(work, against, fmt.Sprintf("≤ %g", aim), got.String(), got.median <= aim, seen)
}

// value is a row whose aim is a value, not a ratio.
func (r *report) value(work, aim, got string, met bool, seen string) {
	r.row(work, "", aim, got, met, seen)
}

// beside is a row without an aim.
func (r *report) beside(work string, got spread, seen string) {
	r.told(work, got.String(), seen)
}

// told is beside for one value.
func (r *report) told(work, got, seen string) {
	r.rows = append(r.rows, fmt.Sprintf("| %s | | | %s | | %s |", work, got, seen))
	say("  %s: %s, %s", work, got, seen)
}

func (r *report) row(work, against, aim, got string, met bool, seen string) {
	verdict := "yes"
	if !met {
		verdict = "**no**"
		r.missed = append(r.missed, fmt.Sprintf("- %s: %s, the aim is %s.%s", work, got, aim, because(work)))
	}
	r.rows = append(r.rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", work, against, aim, got, verdict, seen))
	say("  %s: %s (aim %s), %s", work, got, aim, seen)
}

const preamble = `# Performance

Written by ` + "`make bench`" + `: change the program in test/performance, not this page.
What the numbers mean and why the aims that are missed are missed stands in
[performance-notes.md](performance-notes.md).

Server and client are two processes on one machine and share its processors. What is
compared is measured in turns within one run, in rotated order; a ratio is the
median of the ratios turn by turn, with the least and the most. Absolute figures
are of this machine and this run: compare ratios.

`

func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString(preamble)
	fmt.Fprintf(&b, "- Machine: %s\n- %d turns of %s each; the run took %s.\n\n", r.machine, r.rounds, r.turn, r.took.Round(time.Second))
	b.WriteString("| work | against | aim | measured | met | figures |\n|---|---|---|---|---|---|\n")
	b.WriteString(strings.Join(r.rows, "\n"))
	b.WriteString("\n\n## What is missed\n\n")
	if len(r.missed) == 0 {
		b.WriteString("Nothing.\n")
	} else {
		b.WriteString(strings.Join(r.missed, "\n") + "\n")
	}
	if len(r.profiles) > 0 {
		b.WriteString("\n## Where the time goes\n\nProcessor profiles of the server, by cumulative time.\n")
		b.WriteString(strings.Join(r.profiles, ""))
	}
	return b.String()
}

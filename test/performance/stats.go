package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// series is the samples of one load, turn by turn.
type series []sample

// turns measures loads in turns, each time beginning with another.
func (b *bench) turns(ctx context.Context, loads ...*load) ([]series, error) {
	all := make([]series, len(loads))
	for round := range b.rounds {
		for k := range loads {
			i := (round + k) % len(loads)
			s, err := loads[i].measure(ctx, b.turn)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], s)
		}
	}
	for _, l := range loads {
		closeAll(l.open)
	}
	return all, nil
}

func (s series) of(value func(sample) float64) []float64 {
	out := make([]float64, len(s))
	for i := range s {
		out[i] = value(s[i])
	}
	return out
}

func perSecond(s sample) float64 { return s.perSecond }
func cpu(s sample) float64       { return float64(s.cpu) }

// paired are the ratios of two series, turn by turn.
func paired(a, b []float64) spread {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] / b[i]
	}
	return spreadOf(out)
}

// spread is a median and its range.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	s := slices.Sorted(slices.Values(values))
	return spread{median(s), s[0], s[len(s)-1]}
}

func median[T cmp.Ordered](sorted []T) T { return sorted[len(sorted)/2] }

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f to %.2f)", s.median, s.least, s.most) }

// micros is a spread of nanoseconds, in microseconds.
func (s spread) micros() string {
	return fmt.Sprintf("%.1f µs (%.1f to %.1f)", s.median/1e3, s.least/1e3, s.most/1e3)
}

// rate is a spread of things per second.
func (s spread) rate() string { return fmt.Sprintf("%.0f/s (%.0f to %.0f)", s.median, s.least, s.most) }

// pause waits for so long, or until ctx ends.
func pause(ctx context.Context, long time.Duration) {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

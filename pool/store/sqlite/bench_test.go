//go:build linux

package sqlite

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// BenchmarkAppend is appends of n commits to one log, each with one record of
// 880 bytes that is new; with folding and without.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 20, 128} {
		for name, opt := range map[string]Option{"folding": func(*Store) {}, "journal": never} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) { benchmarkAppend(b, n, opt) })
		}
	}
}

func benchmarkAppend(b *testing.B, n int, opt Option) {
	s := mustOpen(b, b.TempDir(), opt)
	value := bytes.Repeat([]byte("0123456789"), 88)
	rev, slowest := int64(0), time.Duration(0)
	cpu := cpuTime()
	for b.Loop() {
		batch := store.Batch{Log: "a", After: rev}
		for range n {
			rev++
			batch.Commits = append(batch.Commits, store.Commit{Revision: rev, Facts: []store.Fact{
				{Key: store.Key{Kind: 1, ID: rev}, Value: value},
			}})
		}
		start := time.Now()
		if err := s.Append(b.Context(), []store.Batch{batch}); err != nil {
			b.Fatal(err)
		}
		slowest = max(slowest, time.Since(start))
	}
	b.ReportMetric(float64(rev)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(rev), "cpu-µs/commit")
	b.ReportMetric(float64(slowest.Milliseconds()), "ms-slowest")
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkOpen is a start with 10,000 logs, folded.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := mustOpen(b, dir)
	fillLogs(b, s, 10_000)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := mustOpen(b, dir)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

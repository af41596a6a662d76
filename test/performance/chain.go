package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

var nanoseconds = regexp.MustCompile(`BenchmarkChain\S*\s+\d+\s+([0-9.]+) ns/op`)

// chain measures the interceptors alone, in process, and compares what they add to
// the server's share of an empty call of so many nanoseconds.
func (b *bench) chain(ctx context.Context, empty float64) error {
	say("the interceptors")
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkChain$", "-count", strconv.Itoa(b.rounds), "./server").CombinedOutput() //nolint:gosec // a number
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var ratios, took []float64
	for _, m := range nanoseconds.FindAllSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return err
		}
		took, ratios = append(took, ns), append(ratios, (empty+ns)/empty)
	}
	if len(took) == 0 {
		return fmt.Errorf("there is no measurement in %s", out)
	}
	b.report.atMost("server CPU of an empty call with the interceptor chain", "without (in process: BenchmarkChain of ./server)", 1.15,
		spreadOf(ratios), spreadOf(took).micros()+" more")
	return nil
}

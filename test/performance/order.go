package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

var agreeing = regexp.MustCompile(`BenchmarkAgree/(random|chain)/(\d+)\S*\s+\d+\s+([0-9.]+) ns/op`)

// order measures, in process, an edge that agrees with the order of the graph.
func (b *bench) order(ctx context.Context) error {
	say("edges of the dependency graph")
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkAgree$", "-benchtime", "200000x", "-count", strconv.Itoa(b.rounds), "./pool/dag").CombinedOutput() //nolint:gosec // a number
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	took := map[string][]float64{}
	for _, m := range agreeing.FindAllSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil {
			return err
		}
		name := string(m[1]) + " of " + string(m[2])
		took[name] = append(took[name], ns)
	}
	for _, shape := range []string{"random", "chain"} {
		for _, n := range []string{"1000", "10000", "100000", "1000000"} {
			all := took[shape+" of "+n]
			if len(all) == 0 {
				return fmt.Errorf("there is no measurement of %s %s in %s", shape, n, out)
			}
			s := spreadOf(all)
			b.report.value(fmt.Sprintf("the check of an added dependency that agrees with the order, %s graph of %s tasks (BenchmarkAgree of ./pool/dag)", shape, n),
				"≤ 1 µs", fmt.Sprintf("%.3f µs", s.median/1e3), s.median <= 1000, fmt.Sprintf("%.0f to %.0f ns", s.least, s.most))
		}
	}
	return nil
}

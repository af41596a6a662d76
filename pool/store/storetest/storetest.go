// Package storetest is the suite that every engine of [store.Store] passes. An
// engine's own test runs it in a few lines and adds what only that engine has.
//
// There is one exported function per behaviour, so that an engine's test can
// also run a single one.
package storetest

import (
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Harness opens the stores of one test. The suite closes them.
type Harness struct {
	// New opens a store with no data, apart from all others.
	New func(t testing.TB) store.Store
	// Reopen closes s and opens its data again. It is nil for an engine that
	// keeps nothing.
	Reopen func(t testing.TB, s store.Store) store.Store
}

// Run runs the whole suite; open is called once per behaviour.
func Run(t *testing.T, open func(t testing.TB) Harness) {
	for _, b := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"EmptyLog", EmptyLog},
		{"AppendLoad", AppendLoad},
		{"AppendConflict", AppendConflict},
		{"AppendMalformed", AppendMalformed},
		{"AppendNothing", AppendNothing},
		{"AppendSeveralLogs", AppendSeveralLogs},
		{"AppendCopies", AppendCopies},
		{"AppendLarge", AppendLarge},
		{"AppendTooLarge", AppendTooLarge},
		{"AppendRace", AppendRace},
		{"AppendRaceSeveralLogs", AppendRaceSeveralLogs},
		{"Keys", Keys},
		{"LoadStops", LoadStops},
		{"LoadOneHead", LoadOneHead},
		{"Reset", Reset},
		{"Expires", Expires},
		{"Past", Past},
		{"Jump", Jump},
		{"JumpFirst", JumpFirst},
		{"JumpUnderReader", JumpUnderReader},
		{"Commits", Commits},
		{"CommitsExact", CommitsExact},
		{"Reentrant", Reentrant},
		{"Follow", Follow},
		{"FollowAhead", FollowAhead},
		{"FollowMany", FollowMany},
		{"Trim", Trim},
		{"TrimHead", TrimHead},
		{"TrimWhileFollowed", TrimWhileFollowed},
		{"TrimUnderReader", TrimUnderReader},
		{"SetAside", SetAside},
		{"SetAsideAbsent", SetAsideAbsent},
		{"Context", Context},
		{"Closed", Closed},
		{"CloseEndsFollow", CloseEndsFollow},
		{"CloseEndsReads", CloseEndsReads},
		{"Reopen", Reopen},
		{"ReopenSetAside", ReopenSetAside},
		{"RandomHistory", RandomHistory},
	} {
		t.Run(b.name, func(t *testing.T) { b.test(t, open(t)) })
	}
}

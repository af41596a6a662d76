package sqlite

import (
	"log/slog"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Option changes what Open does.
type Option func(*Store)

// WithLogger tells l what goes wrong in the background (folding that fails,
// damage that is met). Without it, nobody is told.
func WithLogger(l *slog.Logger) Option {
	return func(s *Store) { s.log = l }
}

// tuning is when and how much is folded, and such; tests use smaller numbers.
type tuning struct {
	// An append takes at most so much.
	appendBytes int
	// Folding starts when this much is unfolded, and stops at half of it.
	lagRows, lagBytes int
	// It also starts when nothing was appended for idle, if there is enough to
	// be worth it.
	idle     time.Duration
	idleRows int
	// A round of folding reads at most this much of the journal.
	roundRows, roundBytes, roundLogs int
	// A transaction changes at most this much.
	pieceRows, pieceBytes int
	// Close folds for at most so long.
	closing time.Duration
	// Expired records are looked for once in so long.
	sweep time.Duration
}

var defaultTuning = tuning{
	appendBytes: store.MaxAppendBytes,
	lagRows:     50_000,
	lagBytes:    64 << 20,
	idle:        time.Second,
	idleRows:    200,
	roundRows:   2_000,
	roundBytes:  4 << 20,
	roundLogs:   100,
	pieceRows:   200,
	pieceBytes:  1 << 20,
	closing:     3 * time.Second,
	sweep:       time.Minute,
}

// hooks let tests come between; all may be nil.
type hooks struct {
	// beforeCommit and afterCommit run around every transaction that writes;
	// the error stands for one of SQLite's.
	beforeCommit, afterCommit func() error
	// piece runs after each piece of folding, without the turn; an error ends
	// the round.
	piece func() error
}

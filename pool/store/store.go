// Package store is the contract between a pool and what keeps its commits.
//
// A store holds logs; a log is one append-only sequence of commits, numbered by
// revision. A commit is facts, never commands: each fact says what a record has
// become, or that it is gone. So an engine can keep the state of a log without
// knowing what is in it (the last fact of a key wins, but for those that are Past),
// and replay validates nothing and reads no clock.
//
// Every engine runs the suite in storetest.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Errors an engine returns, wrapped with what it was doing.
var (
	// ErrConflict: the head of a log is not the one the append named. Nothing
	// was appended, to any log. Catch up with Commits and run again.
	ErrConflict = errors.New("store: the log has moved on")
	// ErrCompacted: commits that were asked for are gone: trimmed away, or lost
	// to damage. It comes as a *CompactedError.
	ErrCompacted = errors.New("store: history before this revision is gone")
	// ErrNotApplied: the append certainly did not happen and may be tried again
	// later: the disk is full or read-only, or the store is busy or closed.
	ErrNotApplied = errors.New("store: not applied")
	// ErrUnknown: whether the append happened is not known. Read the head again
	// before anything else is appended.
	ErrUnknown = errors.New("store: outcome unknown")
	// ErrClosed: the store was closed. Appends wrap ErrNotApplied as well.
	ErrClosed = errors.New("store: closed")
)

// LockedError says that another process serves the data.
type LockedError struct {
	// Dir is the data directory, Owner what its lock file says of the process.
	Dir, Owner string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is already served by %s; stop it first, or choose another --data directory", e.Dir, e.Owner)
}

// CompactedError says from where a log can still be read, to one who asked for
// commits before that, or who came to commits that are gone. It is ErrCompacted.
type CompactedError struct {
	Log string
	// From is the revision that was to be yielded next.
	From int64
	// Oldest is the first revision that Commits could yield at that moment; one
	// beyond the head if there was none. It is above From.
	Oldest int64
}

func (e *CompactedError) Error() string {
	return fmt.Sprintf("%v: revision %d of %s was asked for, the oldest kept is %d", ErrCompacted, e.From, e.Log, e.Oldest)
}

// Unwrap returns ErrCompacted.
func (e *CompactedError) Unwrap() error { return ErrCompacted }

// MaxRevision is the highest revision a log can have: each up to it is exact as
// a floating-point number too, which is what some readers make of it.
const MaxRevision = 1 << 53

// MaxAppendBytes is the most that the batches of one append may take together,
// each as EncodedSize counts its commits. What is larger can never be appended:
// engines refuse it as not applied, before anything is written. It is a little
// below what SQLite can hold in one row, and far above what a pool's mutations
// make; only who brings a whole pool at once has to mind it.
const MaxAppendBytes = 900 << 20

// Key names a record within a log. Engines order and compare it as three
// integers and know nothing of its meaning.
type Key struct {
	Kind uint8
	ID   int64
	Sub  int64
}

// Fact says what a record has become. An engine must not keep or change Value
// after the call that passed it returned, unless it copies; what it yields
// belongs to the receiver.
type Fact struct {
	Key   Key
	Value []byte
	// Gone: the record is no more; Value is empty.
	Gone bool
	// Past: the fact is told to those who read history alone; it is no record.
	// Load never yields it, and it neither makes, changes nor ends the record of
	// its key. It is never Gone and never Expires; see Check.
	Past bool
	// Expires, when not zero, lets an engine forget the record from then on. It
	// may be yielded for longer.
	Expires time.Time
}

// Commit is what one mutation did: one revision of its log.
type Commit struct {
	// Revision is one more than that of the commit before; the first is 1. But a
	// commit that resets, and is the first of its batch, may jump: its revision
	// may be any that is higher, up to MaxRevision. A jump ends the history before
	// it: none of that can be read any more, and the jump is the oldest commit.
	// It lets a log take over records that know the revisions of another.
	Revision int64
	// Nonce is random, and tells two histories with equal revisions apart.
	Nonce uint64
	At    time.Time
	// Reset: every record of the log is gone before the facts of this commit.
	Reset bool
	Facts []Fact
}

// Batch is the commits for one log, to be appended after revision After.
type Batch struct {
	Log     string
	After   int64
	Commits []Commit
}

// Head is the last commit of a log; the zero Head is that of a log with none.
type Head struct {
	Revision int64
	Nonce    uint64
	At       time.Time
}

// Damage is a row that could not be read. The engine has set it aside, so that
// it is not met again, and goes on without it.
type Damage struct {
	// Where names the row for a person, Why what is wrong with it.
	Where, Why string
}

// State is what Load tells beside the records.
type State struct {
	Head Head
	// Oldest is the first revision Commits can still yield; Head.Revision+1
	// when there is none.
	Oldest int64
	// Damaged lists what was set aside since the log was last loaded whole.
	// It stays until the first append after Load, so that a crash in between
	// does not hide it.
	Damaged []Damage
}

// Store keeps logs. All methods may be called concurrently. A log needs no
// creation: one that was never appended to is empty.
type Store interface {
	// Append adds the batches, to several logs at once, all or nothing; it is
	// durable when it returns nil. The commits of a batch must follow After
	// without a gap, but for a jump, and a log may come once; see Check. A batch without commits
	// appends nothing, but its log has to be at After all the same. All together
	// may take MaxAppendBytes. Errors wrap ErrConflict, ErrNotApplied or
	// ErrUnknown; any other error counts as ErrUnknown. A context that has ended by the time writing begins makes it
	// ErrNotApplied; later it is not heeded.
	Append(ctx context.Context, batches []Batch) error
	// Load yields every live record of a log once, in no order, and returns the
	// state they are of. It stops at the first error of yield and returns it.
	Load(ctx context.Context, log string, yield func(Key, []byte) error) (State, error)
	// Head returns the last commit's head, read from where it is durable. After
	// an append that was ErrUnknown, what it returns is final: the append is the
	// head, or can't become it any more. If that can't be made sure of yet, it
	// is an error.
	Head(ctx context.Context, log string) (Head, error)
	// Commits yields the commits from revision from (inclusive) to the head at
	// the time iteration begins, in order and without a gap; a *CompactedError
	// when from is before the oldest kept, or when a commit on the way is gone by
	// the time it is reached, which one that is found damaged then is. From beyond
	// the head yields nothing.
	Commits(ctx context.Context, log string, from int64) iter.Seq2[Commit, error]
	// Follow is Commits that goes on: at the head it waits for what is appended
	// next, by anyone, until ctx ends, whose error is yielded last.
	Follow(ctx context.Context, log string, from int64) iter.Seq2[Commit, error]
	// SetAside takes a record out of the state that Load yielded but the caller
	// could not read, and remembers it as Damage. A record that is not there is
	// no error and no Damage.
	SetAside(ctx context.Context, log string, key Key, why string) error
	// Trim lets go of commits before revision before; records stay. The head
	// commit is always kept. A request, not a promise: an engine may keep more.
	Trim(ctx context.Context, log string, before int64) error
	// Shared says whether others than the users of this value may append.
	Shared() bool
	// Close ends every call under way and lets go of the data. Idempotent.
	Close() error
}

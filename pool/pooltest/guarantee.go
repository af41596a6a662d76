package pooltest

import (
	"errors"
	"fmt"
	"strings"
)

// The guarantees of a watch. What breaks one is a [*Breach] that wraps it.
var (
	ErrNotFormed       = errors.New("not well formed")
	ErrNotOrdered      = errors.New("not ordered")
	ErrNotUnique       = errors.New("not unique")
	ErrNotComplete     = errors.New("not complete")
	ErrNotAtomic       = errors.New("not atomic")
	ErrNotResumable    = errors.New("not resumable")
	ErrNotBookmarkable = errors.New("not bookmarkable")
	ErrNotFiltered     = errors.New("not filtered")
	ErrStateDiffers    = errors.New("the state is not the feed")
)

// Guarantee is one of the promises of a watch, and the check whether traffic
// keeps it. Checks are pure: they change neither traffic nor reference. Each
// returns nil or the first [*Breach], or an error that wraps [ErrReference].
type Guarantee struct {
	Name  string
	Err   error
	Check func(*Traffic, *Reference) error
}

// Guarantees are all of them.
func Guarantees() []Guarantee {
	alone := func(check func(*Traffic) error) func(*Traffic, *Reference) error {
		return func(tr *Traffic, _ *Reference) error { return check(tr) }
	}
	return []Guarantee{
		{"Formed", ErrNotFormed, alone(Formed)},
		{"Ordered", ErrNotOrdered, alone(Ordered)},
		{"Unique", ErrNotUnique, alone(Unique)},
		{"Complete", ErrNotComplete, Complete},
		{"Atomic", ErrNotAtomic, Atomic},
		{"Resumable", ErrNotResumable, Resumable},
		{"Bookmarkable", ErrNotBookmarkable, Bookmarkable},
		{"Filtered", ErrNotFiltered, Filtered},
		{"StateEqualsFeed", ErrStateDiffers, StateEqualsFeed},
	}
}

// Validate holds each traffic against every guarantee and joins what is broken.
func Validate(ref *Reference, all ...*Traffic) error {
	if err := ref.Check(); err != nil {
		return err
	}
	var broken []error
	for _, tr := range all {
		for _, g := range Guarantees() {
			if err := g.Check(tr, ref); err != nil {
				broken = append(broken, err)
			}
		}
	}
	return errors.Join(broken...)
}

// Breach is where traffic breaks a guarantee.
type Breach struct {
	// Guarantee is one of the errors above.
	Guarantee error
	// Watch is the traffic's name.
	Watch string
	// Stream and Message count from 0; a Message of -1 is the end of the stream.
	Stream, Message int
	// Revision and Task are what it is about; 0 and "" where nothing certain.
	Revision int64
	Task     string
	Why      string
}

func (b *Breach) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%v: ", b.Guarantee)
	if b.Watch != "" {
		fmt.Fprintf(&s, "watch %q, ", b.Watch)
	}
	fmt.Fprintf(&s, "stream %d, ", b.Stream)
	if b.Message < 0 {
		s.WriteString("at its end")
	} else {
		fmt.Fprintf(&s, "message %d", b.Message)
	}
	if b.Revision != 0 {
		fmt.Fprintf(&s, ", revision %d", b.Revision)
	}
	if b.Task != "" {
		fmt.Fprintf(&s, ", task %s", b.Task)
	}
	return s.String() + ": " + b.Why
}

// Unwrap gives the guarantee.
func (b *Breach) Unwrap() error { return b.Guarantee }

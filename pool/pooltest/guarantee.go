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
	Name string
	Err  error
	// Alone: the reference is not looked at.
	Alone bool
	Check func(*Traffic, *Reference) error
}

// Guarantees are all of them.
func Guarantees() []Guarantee {
	alone := func(check func(*Traffic) error) func(*Traffic, *Reference) error {
		return func(tr *Traffic, _ *Reference) error { return check(tr) }
	}
	return []Guarantee{
		{"Formed", ErrNotFormed, true, alone(Formed)},
		{"Ordered", ErrNotOrdered, true, alone(Ordered)},
		{"Unique", ErrNotUnique, true, alone(Unique)},
		{"Complete", ErrNotComplete, false, Complete},
		{"Atomic", ErrNotAtomic, false, Atomic},
		{"Resumable", ErrNotResumable, false, Resumable},
		{"Bookmarkable", ErrNotBookmarkable, false, Bookmarkable},
		{"Filtered", ErrNotFiltered, false, Filtered},
		{"StateEqualsFeed", ErrStateDiffers, false, StateEqualsFeed},
	}
}

// Validate holds each traffic against every guarantee and joins what is broken.
// Against a reference that contradicts itself it holds nothing.
func Validate(ref *Reference, all ...*Traffic) error {
	broken := []error{ref.Check()}
	judges := !errors.Is(broken[0], ErrReference)
	for _, tr := range all {
		for _, g := range Guarantees() {
			if g.Alone || judges {
				broken = append(broken, g.Check(tr, ref))
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

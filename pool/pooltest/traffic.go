package pooltest

import (
	"fmt"
	"slices"
	"strings"
)

// Traffic is what one receiver saw of one watch: all the streams that it took to
// keep it up, in order. It is made by a recorder, which knows how the watch
// travels; the guarantees look at nothing else. A Traffic has one writer; the
// guarantees only read it, and may do so at once.
type Traffic struct {
	// Name is how errors call the watch.
	Name string
	// Fits is the filter; nil: every task fits. It must be pure.
	Fits func(State) bool
	// Exclude is the actor whose own doings were to be left out; "": nobody's.
	Exclude string
	Streams []Stream
}

// Start is where a stream begins.
type Start uint8

// The starts of a stream.
const (
	// FromSnapshot: with the present state. It makes the receiver begin anew.
	FromSnapshot Start = iota
	// FromCursor: after a cursor, exclusive. One that an earlier stream of this
	// traffic gave out resumes there: what came after it is taken back.
	FromCursor
	// FromNow: with the next change after `opened`.
	FromNow
)

// Stream is one connection, from its opening to where it was cut or ended.
type Stream struct {
	Start Start
	// After is where a FromCursor begins; zero for the others.
	After    Cursor
	Messages []Message
}

// Cursor is a position. The zero Cursor is none.
type Cursor struct {
	// Text is what the receiver was given.
	Text string
	// Revision is the last one before the position, as the recorder decodes it.
	Revision int64
}

// MessageKind is what a message says.
type MessageKind uint8

// The kinds of message, by which of its fields they use beside Cursor.
const (
	MessageOpened MessageKind = iota + 1
	// MessageSnapshot: Tasks.
	MessageSnapshot
	MessageSnapshotEnd
	// MessageChanges: Changes and More.
	MessageChanges
	MessageProgress
)

// Message is one message of a stream, whole or not at all.
type Message struct {
	Kind    MessageKind
	Cursor  Cursor
	Tasks   []State
	Changes []Change
	// More: the last revision of Changes goes on in the next message.
	More bool
}

// State is a task as it was recorded.
type State struct {
	ID string
	// Revision is that of the task's last change.
	Revision int64
	// Content is all of the task in a form in which equal means the same.
	Content string
	// Fields is whatever the filters of a test need to look at.
	Fields any
}

// Event is one row of a task's thread as it was recorded.
type Event struct {
	ID      int64
	Actor   string
	Content string
}

// Kind is what a change means for a watch.
type Kind uint8

// The kinds of change.
const (
	Upserted Kind = iota + 1
	LeftView
	Deleted
)

func (k Kind) String() string {
	switch k {
	case Upserted:
		return "UPSERTED"
	case LeftView:
		return "LEFT_VIEW"
	case Deleted:
		return "DELETED"
	}
	return "a kind that nobody knows"
}

// Change is what one revision did to one task, as a watch tells it.
type Change struct {
	Revision int64
	Task     string
	Kind     Kind
	// State is the task after that revision; nil unless Upserted.
	State  *State
	Events []Event
}

// Begin adds a stream. The cursor is zero but for FromCursor.
func (tr *Traffic) Begin(start Start, after Cursor) {
	tr.Streams = append(tr.Streams, Stream{Start: start, After: after})
}

// Add adds a message to the last stream.
func (tr *Traffic) Add(m Message) {
	s := &tr.Streams[len(tr.Streams)-1]
	s.Messages = append(s.Messages, m)
}

// Cursor is where the last stream is resumed: after the last cursor it gave out,
// or where it began. The zero Cursor: it can't be, for it has not come so far.
func (tr *Traffic) Cursor() Cursor {
	if len(tr.Streams) == 0 {
		return Cursor{}
	}
	s := &tr.Streams[len(tr.Streams)-1]
	for _, m := range slices.Backward(s.Messages) {
		if m.Cursor != (Cursor{}) {
			return m.Cursor
		}
	}
	return s.After
}

// Within says whether the newest stream has come to where some parts of a revision
// were received and others were not.
func (tr *Traffic) Within() bool {
	if len(tr.Streams) == 0 {
		return false
	}
	messages := tr.Streams[len(tr.Streams)-1].Messages
	return len(messages) > 0 && messages[len(messages)-1].More
}

// Forget makes the traffic begin where it is resumed, so that a long test keeps
// little: an open stream goes on as if it had just been resumed there. Where
// there is no such cursor the next stream has to begin anew, and a stream that is
// within a revision has to be cut: what it has of that is forgotten.
func (tr *Traffic) Forget() {
	at := tr.Cursor()
	tr.Streams = nil
	if at != (Cursor{}) {
		tr.Begin(FromCursor, at)
		tr.Add(Message{Kind: MessageOpened, Cursor: at})
	}
}

// String shows all of it, for a failing test.
func (tr *Traffic) String() string {
	var b strings.Builder
	for i, s := range tr.Streams {
		fmt.Fprintf(&b, "watch %q, stream %d, start %d after %v\n", tr.Name, i, s.Start, s.After)
		for k, m := range s.Messages {
			fmt.Fprintf(&b, "  message %d, kind %d, cursor %v, more %t\n", k, m.Kind, m.Cursor, m.More)
			for _, t := range m.Tasks {
				fmt.Fprintf(&b, "    %s of revision %d: %s\n", t.ID, t.Revision, t.Content)
			}
			for _, c := range m.Changes {
				fmt.Fprintf(&b, "    %d %s %s", c.Revision, c.Task, c.Kind)
				if c.State != nil {
					fmt.Fprintf(&b, " %s", c.State.Content)
				}
				fmt.Fprintf(&b, " %v\n", c.Events)
			}
		}
	}
	return b.String()
}

package taskpb

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// The fields of TaskEvent and of its details; see append.go.
const (
	eventID       protowire.Number = 1
	eventTaskID   protowire.Number = 2
	eventAt       protowire.Number = 3
	eventActor    protowire.Number = 4
	eventKind     protowire.Number = 5
	eventBody     protowire.Number = 6
	eventCreated  protowire.Number = 9
	eventComment  protowire.Number = 10
	eventClaimed  protowire.Number = 11
	eventReleased protowire.Number = 12
	eventStatus   protowire.Number = 13
	eventProgress protowire.Number = 17

	createdTitle          protowire.Number = 1
	createdParentID       protowire.Number = 2
	createdDiscoveredFrom protowire.Number = 3

	claimedHolder protowire.Number = 1
	claimedLease  protowire.Number = 2
	claimedRunID  protowire.Number = 3

	releasedHolder protowire.Number = 1
	releasedReason protowire.Number = 2

	statusFrom         protowire.Number = 1
	statusTo           protowire.Number = 2
	statusReason       protowire.Number = 3
	statusForced       protowire.Number = 4
	statusOpenChildren protowire.Number = 5
	statusUnfinished   protowire.Number = 6
)

// event appends an event whose detail is one of those that come often; false for
// any other, of which nothing may be kept.
func (a *appending) event(e *task.Event) bool {
	a.number(eventID, e.ID)
	a.text(eventTaskID, e.TaskID)
	a.instant(eventAt, e.At)
	a.text(eventActor, e.Actor)
	a.number(eventKind, int64(e.Kind))
	a.text(eventBody, e.Body)
	if e.Detail == nil {
		switch e.Kind { // a detail that says nothing tells the kind all the same
		case task.EventComment:
			a.open(eventComment, 0)
		case task.EventProgress:
			a.open(eventProgress, 0)
		}
		return true
	}
	if detailKind(e.Detail) != e.Kind {
		return false
	}
	switch d := e.Detail.(type) {
	case task.CreatedDetail:
		a.within(eventCreated, func() {
			a.text(createdTitle, d.Title)
			a.text(createdParentID, d.ParentID)
			a.text(createdDiscoveredFrom, d.DiscoveredFrom)
		})
	case task.ClaimedDetail:
		a.within(eventClaimed, func() {
			a.text(claimedHolder, d.Holder)
			a.span(claimedLease, d.Lease)
			a.text(claimedRunID, d.RunID)
		})
	case task.ReleasedDetail:
		a.within(eventReleased, func() {
			a.text(releasedHolder, d.Holder)
			a.text(releasedReason, d.Reason)
		})
	case task.StatusDetail:
		a.within(eventStatus, func() {
			a.number(statusFrom, int64(d.From))
			a.number(statusTo, int64(d.To))
			a.text(statusReason, d.Reason)
			if d.Forced {
				a.number(statusForced, 1)
			}
			a.texts(statusOpenChildren, d.OpenChildren)
			a.texts(statusUnfinished, d.Unfinished)
		})
	default:
		return false
	}
	return true
}

// within appends a message within the message, whose fields write appends. The
// length stands before them and is known after, so they may be moved by a byte or
// more.
func (a *appending) within(n protowire.Number, write func()) {
	a.b = protowire.AppendTag(a.b, n, protowire.BytesType)
	start := len(a.b)
	a.b = append(a.b, 0)
	write()
	size := len(a.b) - start - 1
	if more := protowire.SizeVarint(uint64(size)) - 1; more > 0 {
		a.b = append(a.b, make([]byte, more)...)
		copy(a.b[start+1+more:], a.b[start+1:start+1+size])
	}
	protowire.AppendVarint(a.b[:start], uint64(size))
}

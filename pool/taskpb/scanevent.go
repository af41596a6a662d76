package taskpb

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// scanEvent reads an event as appending.event writes it. As with scanTask, what is
// in the least odd is left to the generated message.
func scanEvent(b []byte) (*task.Event, bool) {
	e := &task.Event{}
	s := scanning{rest: b}
	for last := protowire.Number(0); len(s.rest) > 0 && !s.odd; {
		n, kind := s.tag()
		if n <= last {
			return nil, false
		}
		last = n
		if kind == protowire.VarintType {
			switch v := s.positive(); n {
			case eventID:
				e.ID = v
			case eventKind:
				s.odd = s.odd || v > int64(task.EventImported)
				e.Kind = task.EventKind(v)
			default:
				return nil, false
			}
			continue
		}
		if kind != protowire.BytesType {
			return nil, false
		}
		switch value := s.bytes(); n {
		case eventTaskID:
			e.TaskID = s.name(value)
		case eventAt:
			e.At = s.instant(value)
		case eventActor:
			e.Actor = s.name(value)
		case eventBody:
			e.Body = s.text(value)
		default:
			var ok bool
			if e.Detail, ok = scanDetail(n, value, e.Kind); !ok {
				return nil, false
			}
		}
	}
	return e, !s.odd && e.Kind.Valid()
}

// scanDetail reads the detail of an event, which is the field n.
func scanDetail(n protowire.Number, b []byte, kind task.EventKind) (any, bool) {
	s := scanning{rest: b}
	var detail any
	switch {
	case n == eventComment && kind == task.EventComment, n == eventProgress && kind == task.EventProgress:
		return nil, len(b) == 0
	case n == eventCreated && kind == task.EventCreated:
		var d task.CreatedDetail
		s.each(func(n protowire.Number, value []byte) {
			switch n {
			case createdTitle:
				d.Title = s.text(value)
			case createdParentID:
				d.ParentID = s.name(value)
			case createdDiscoveredFrom:
				d.DiscoveredFrom = s.name(value)
			default:
				s.odd = true
			}
		})
		detail = d
	case n == eventClaimed && kind == task.EventClaimed:
		var d task.ClaimedDetail
		s.each(func(n protowire.Number, value []byte) {
			switch n {
			case claimedHolder:
				d.Holder = s.name(value)
			case claimedLease:
				d.Lease = s.span(value)
			case claimedRunID:
				d.RunID = s.text(value)
			default:
				s.odd = true
			}
		})
		detail = d
	case n == eventReleased && kind == task.EventReleased:
		var d task.ReleasedDetail
		s.each(func(n protowire.Number, value []byte) {
			switch n {
			case releasedHolder:
				d.Holder = s.name(value)
			case releasedReason:
				d.Reason = s.text(value)
			default:
				s.odd = true
			}
		})
		detail = d
	default:
		return nil, false
	}
	return detail, !s.odd
}

// each passes on the fields of a message that are texts or messages, in the order
// of their numbers, each once.
func (s *scanning) each(one func(protowire.Number, []byte)) {
	for last := protowire.Number(0); len(s.rest) > 0 && !s.odd; {
		n, kind := s.tag()
		if kind != protowire.BytesType || n <= last {
			s.odd = true
			return
		}
		last = n
		one(n, s.bytes())
	}
}

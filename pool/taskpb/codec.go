package taskpb

import (
	"bytes"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Codec writes and reads tasks and events as the feed carries them. It has no
// state; the zero value is ready and safe for concurrent use.
//
// Encoding is deterministic, and encoding what was decoded gives the same bytes.
// Not in the bytes, and zero after decoding, are the fields that the pool knows
// otherwise: HistoryLength, EventCount, ChildrenOpen and AssignedByClaim.
//
// What this version could not write again it does not read: bytes of a newer
// version are an error rather than a quiet loss.
type Codec struct{}

var (
	deterministic = proto.MarshalOptions{Deterministic: true}
	strict        = proto.UnmarshalOptions{}
)

// EncodeTask writes a task. It fails on text that is not UTF-8.
func (Codec) EncodeTask(t *task.Task) ([]byte, error) {
	a := scratches.Get().(*appending)
	defer a.release()
	a.task(t)
	if a.invalid {
		return nil, fmt.Errorf("encode task %s: %w", t.ID, errNotUTF8)
	}
	return bytes.Clone(a.b), nil
}

// scratches are where messages are laid together before they get bytes of their
// own.
var scratches = sync.Pool{New: func() any { return &appending{} }}

// maxScratch is how much a scratch may keep, in bytes.
const maxScratch = 1 << 16

func (a *appending) release() {
	if cap(a.b) <= maxScratch {
		a.b, a.invalid = a.b[:0], false
		scratches.Put(a)
	}
}

// DecodeTask reads what EncodeTask wrote. Strings that many tasks have in
// common (ids, members, label keys) are shared with those decoded before.
func (Codec) DecodeTask(b []byte) (*task.Task, error) {
	if t, ok := scanTask(b); ok {
		return t, nil
	}
	return decodeMessage(b)
}

// decodeMessage reads a task by way of its message.
func decodeMessage(b []byte) (*task.Task, error) {
	var m taskpoolv1.Task
	if err := strict.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("decode task: %w", err)
	}
	t, err := taskOf(&m)
	if err != nil {
		return nil, fmt.Errorf("decode task %q: %w", task.Preview(m.GetId(), 64), err)
	}
	return t, nil
}

// EncodeEvent writes an event. It fails on text that is not UTF-8 and on a
// detail that is not one of the event's kind.
func (Codec) EncodeEvent(e *task.Event) ([]byte, error) {
	a := scratches.Get().(*appending)
	defer a.release()
	if a.event(e) {
		if a.invalid {
			return nil, fmt.Errorf("encode event %d: %w", e.ID, errNotUTF8)
		}
		return bytes.Clone(a.b), nil
	}
	b, err := encodeEventMessage(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %d: %w", e.ID, err)
	}
	return b, nil
}

// encodeEventMessage writes an event by way of its message.
func encodeEventMessage(e *task.Event) ([]byte, error) {
	m, err := eventMessage(e)
	if err != nil {
		return nil, err
	}
	return deterministic.Marshal(m)
}

// DecodeEvent reads what EncodeEvent wrote, sharing strings as DecodeTask does.
func (Codec) DecodeEvent(b []byte) (*task.Event, error) {
	if e, ok := scanEvent(b); ok {
		return e, nil
	}
	return decodeEventMessage(b)
}

// decodeEventMessage reads an event by way of its message.
func decodeEventMessage(b []byte) (*task.Event, error) {
	var m taskpoolv1.TaskEvent
	if err := strict.Unmarshal(b, &m); err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	e, err := eventOf(&m)
	if err != nil {
		return nil, fmt.Errorf("decode event %d: %w", m.GetId(), err)
	}
	return e, nil
}

package taskpb

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// SetTask gives a response that has a field "task" this task in FULL view. It sets
// the bytes, which makes no Task on the way: the receiver finds the field as
// always, and m.GetTask() here stays nil.
func SetTask(m proto.Message, t *task.Task) { setTask(m, func(a *appending) { a.task(t) }) }

// SetHeld is SetTask with when the task's hold runs out; zero: it doesn't.
func SetHeld(m proto.Message, t *task.Task, until time.Time) {
	setTask(m, func(a *appending) {
		a.task(t)
		a.instant(taskHoldExpiresAt, until)
	})
}

// SetDetail is SetHeld for a task as [Detail] tells it.
func SetDetail(m proto.Message, t *task.Task, thread []*task.Event, dependents []string, until time.Time) {
	setTask(m, func(a *appending) {
		a.task(t)
		for _, e := range thread {
			if e.Kind == task.EventProgress {
				a.progress(e)
			}
		}
		a.instant(taskHoldExpiresAt, until)
		a.texts(taskDependentIDs, dependents)
	})
}

// setTask sets the field to the bytes that it appends. To protobuf they are an
// unknown field of the message, which is kept and sent as it is; that its number is
// known after all is for the receiver to see.
func setTask(m proto.Message, task func(*appending)) {
	a := scratches.Get().(*appending)
	defer a.release()
	task(a)
	r := m.ProtoReflect()
	field := r.Descriptor().Fields().ByName("task").Number()
	b := make([]byte, 0, protowire.SizeTag(field)+protowire.SizeBytes(len(a.b)))
	r.SetUnknown(protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), a.b))
}

// progress appends an entry of a task's history.
func (a *appending) progress(e *task.Event) {
	at := sizeNumber(e.At.Unix()) + sizeNumber(int64(e.At.Nanosecond()))
	size := 1 + protowire.SizeBytes(at)
	if e.At.IsZero() {
		size = 0
	}
	for _, s := range []string{e.Actor, e.Body} {
		if s != "" {
			size += 1 + protowire.SizeBytes(len(s))
		}
	}
	a.open(taskHistory, size)
	a.instant(progressAt, e.At)
	a.text(progressActor, e.Actor)
	a.text(progressText, e.Body)
}

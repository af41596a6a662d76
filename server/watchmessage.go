package server

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// The bounds of one message of a stream: of tasks in a snapshot, of records in an
// export. What is larger than the second comes alone.
const (
	maxMessageItems = 256
	maxMessageBytes = 1 << 20
)

const snapshotTasksField protowire.Number = 1 // WatchSnapshot.tasks

// watchView is what a watch shows of a task.
type watchView struct {
	view    taskpoolv1.TaskView
	preview int
}

func (v watchView) full() bool { return v.view == fullView }

func (v watchView) task(t *task.Task) *taskpoolv1.Task { return taskpb.Task(t, v.view, v.preview) }

// changes is the message with a batch of changes. Where the pool has a change
// encoded, every watch sends those very bytes.
func (v watchView) changes(batch pool.WatchBatch) (*frame, error) {
	var elements [][]byte
	for i := range batch.Changes {
		c := &batch.Changes[i]
		e := c.Encoded
		if e == nil || !v.full() {
			var err error
			if e, err = v.element(c); err != nil {
				return nil, err
			}
		}
		elements = join(elements, e)
	}
	return changesFrame(cursorText(batch.Cursor), batch.Cursor.Revision, batch.More, elements), nil
}

// element is a change as an element of WatchChanges.changes, with tag and length.
func (v watchView) element(c *pool.WatchChange) ([]byte, error) {
	m := &taskpoolv1.TaskChange{Revision: c.Revision, TaskId: c.TaskID, Kind: kindOf(c.Kind), Events: taskpb.Events(c.Events)}
	if c.Task != nil {
		m.Task = v.task(c.Task)
	}
	size := proto.Size(m)
	b := make([]byte, 0, size+8)
	b = protowire.AppendTag(b, changesChangesField, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, m)
}

func kindOf(k pool.ChangeKind) taskpoolv1.ChangeKind {
	switch k {
	case pool.Upserted:
		return taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED
	case pool.LeftView:
		return taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW
	case pool.Deleted:
		return taskpoolv1.ChangeKind_CHANGE_KIND_DELETED
	}
	return taskpoolv1.ChangeKind_CHANGE_KIND_UNSPECIFIED
}

// snapshotParts gives the tasks in messages of a bounded size, one by one, with
// their sizes.
func (v watchView) snapshotParts(tasks []*task.Task, send func(m *taskpoolv1.WatchTasksResponse, size int) error) error {
	var part []*taskpoolv1.Task
	size := 0
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		m := &taskpoolv1.WatchTasksResponse{Message: &taskpoolv1.WatchTasksResponse_Snapshot{Snapshot: &taskpoolv1.WatchSnapshot{Tasks: part}}}
		err := send(m, size)
		part, size = nil, 0
		return err
	}
	for _, t := range tasks {
		m := v.task(t)
		n := protowire.SizeTag(snapshotTasksField) + protowire.SizeBytes(proto.Size(m))
		if len(part) == maxMessageItems || size+n > maxMessageBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		part, size = append(part, m), size+n
	}
	return flush()
}

// The messages that hold a cursor alone.

func openedMessage(c feed.Cursor) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursorText(c), Revision: c.Revision, Message: &taskpoolv1.WatchTasksResponse_Opened{Opened: &taskpoolv1.WatchOpened{}}}
}

func snapshotEndMessage(c feed.Cursor) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursorText(c), Revision: c.Revision, Message: &taskpoolv1.WatchTasksResponse_SnapshotEnd{SnapshotEnd: &taskpoolv1.WatchSnapshotEnd{}}}
}

func progressMessage(c feed.Cursor) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursorText(c), Revision: c.Revision, Message: &taskpoolv1.WatchTasksResponse_Progress{Progress: &taskpoolv1.WatchProgress{}}}
}

// cursorText is a cursor as it is sent; "" for the zero one, where there is
// nothing to resume after.
func cursorText(c feed.Cursor) string {
	if c == (feed.Cursor{}) {
		return ""
	}
	return c.String()
}

package taskpb

import (
	"google.golang.org/protobuf/encoding/protowire"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// The fields of the messages that AppendChange writes.
const (
	changesField protowire.Number = 1 // WatchChanges.changes

	changeRevision protowire.Number = 1 // TaskChange
	changeTaskID   protowire.Number = 2
	changeKind     protowire.Number = 3
	changeTask     protowire.Number = 4
	changeEvents   protowire.Number = 5
)

// AppendChange appends a change as an element of WatchChanges.changes, tag and
// length included, so that elements laid end to end are a WatchChanges. What it
// is given of task and events are the bytes of EncodeTask and EncodeEvent, which
// so serve every watcher. A nil task: it was deleted.
func (Codec) AppendChange(dst []byte, revision int64, taskID string, task []byte, events [][]byte) []byte {
	kind := taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED
	if task == nil {
		kind = taskpoolv1.ChangeKind_CHANGE_KIND_DELETED
	}
	size := protowire.SizeTag(changeRevision) + protowire.SizeVarint(uint64(revision)) +
		protowire.SizeTag(changeTaskID) + protowire.SizeBytes(len(taskID)) +
		protowire.SizeTag(changeKind) + protowire.SizeVarint(uint64(kind))
	if task != nil {
		size += protowire.SizeTag(changeTask) + protowire.SizeBytes(len(task))
	}
	for _, e := range events {
		size += protowire.SizeTag(changeEvents) + protowire.SizeBytes(len(e))
	}
	dst = protowire.AppendTag(dst, changesField, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = protowire.AppendTag(dst, changeRevision, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(revision))
	dst = protowire.AppendTag(dst, changeTaskID, protowire.BytesType)
	dst = protowire.AppendString(dst, taskID)
	dst = protowire.AppendTag(dst, changeKind, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(kind))
	if task != nil {
		dst = protowire.AppendTag(dst, changeTask, protowire.BytesType)
		dst = protowire.AppendBytes(dst, task)
	}
	for _, e := range events {
		dst = protowire.AppendTag(dst, changeEvents, protowire.BytesType)
		dst = protowire.AppendBytes(dst, e)
	}
	return dst
}

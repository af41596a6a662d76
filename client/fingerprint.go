package client

import (
	"encoding/binary"
	"hash/fnv"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// fingerprint tells a revision from one with the same number in another history.
// It is made of what every TaskView has, and doesn't depend on the order within
// the revision. Events make it sure, by their times; of a revision without any it
// knows no more than what changed, and how.
func fingerprint(r Change) uint64 {
	var sum uint64
	for _, t := range r.Tasks {
		sum += digest(t.GetRevision(), t.GetTaskId(), t.GetKind(), t.GetEvents())
	}
	for _, g := range r.Graphs {
		sum += digest(g.GetRevision(), g.GetGraphId(), g.GetKind(), nil)
	}
	return sum
}

// digest is the part of one change in a fingerprint.
func digest(revision int64, id string, kind taskpoolv1.ChangeKind, events []*taskpoolv1.TaskEvent) uint64 {
	b := make([]byte, 0, 128)
	b = binary.AppendVarint(b, revision)
	b = binary.AppendVarint(b, int64(kind))
	b = binary.AppendUvarint(b, uint64(len(id)))
	b = append(b, id...)
	for _, e := range events {
		b = binary.AppendVarint(b, e.GetId())
		b = binary.AppendVarint(b, e.GetAt().GetSeconds())
		b = binary.AppendVarint(b, int64(e.GetAt().GetNanos()))
	}
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return h.Sum64()
}

package taskpb

import (
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// The fields of the messages that are written and read here without a message in
// between, which costs far less. Tests compare with what the generated messages
// make.
const (
	taskID               protowire.Number = 1
	taskKey              protowire.Number = 2
	taskTitle            protowire.Number = 3
	taskStatus           protowire.Number = 4
	taskPriority         protowire.Number = 5
	taskAssignee         protowire.Number = 6
	taskHolder           protowire.Number = 7
	taskRevision         protowire.Number = 8
	taskVersion          protowire.Number = 9
	taskUpdatedAt        protowire.Number = 10
	taskDependencyIDs    protowire.Number = 11
	taskUnfinishedIDs    protowire.Number = 12
	taskCreatedAt        protowire.Number = 13
	taskCreatedBy        protowire.Number = 14
	taskLabels           protowire.Number = 15
	taskType             protowire.Number = 16
	taskBrief            protowire.Number = 17 // the first of the parts, in their order
	taskHistory          protowire.Number = 27
	taskHistoryCount     protowire.Number = 28
	taskReviewer         protowire.Number = 29
	taskParentID         protowire.Number = 30
	taskDepth            protowire.Number = 31
	taskChildrenTotal    protowire.Number = 32
	taskChildrenDone     protowire.Number = 33
	taskHeldAt           protowire.Number = 34
	taskLease            protowire.Number = 35
	taskHoldExpiresAt    protowire.Number = 36
	taskBlockedReason    protowire.Number = 37
	taskClosedAt         protowire.Number = 38
	taskNotBefore        protowire.Number = 39
	taskDiscoveredFromID protowire.Number = 40
	taskResult           protowire.Number = 41
	taskSubmission       protowire.Number = 42
	taskDependentIDs     protowire.Number = 43

	entryKey   protowire.Number = 1 // of a map
	entryValue protowire.Number = 2

	timeSeconds protowire.Number = 1 // Timestamp and Duration
	timeNanos   protowire.Number = 2

	progressAt    protowire.Number = 1 // ProgressEntry
	progressActor protowire.Number = 2
	progressText  protowire.Number = 3
)

var errNotUTF8 = errors.New("it has text that is not UTF-8")

// appending is a message on its way into bytes. Fields that say nothing are left
// out, as everywhere in proto3.
type appending struct {
	b []byte
	// invalid: a text was not UTF-8.
	invalid bool
}

// task appends the fields of a task as the feed carries it, in the order of their
// numbers.
func (a *appending) task(t *task.Task) {
	a.text(taskID, t.ID)
	a.text(taskKey, t.Key())
	a.text(taskTitle, t.Title)
	a.number(taskStatus, int64(t.Status))
	a.number(taskPriority, int64(t.Priority))
	a.text(taskAssignee, t.Assignee)
	a.text(taskHolder, t.Holder)
	a.number(taskRevision, t.Revision)
	a.number(taskVersion, t.Version)
	a.instant(taskUpdatedAt, t.UpdatedAt)
	a.texts(taskDependencyIDs, t.Dependencies)
	a.texts(taskUnfinishedIDs, t.Unfinished)
	a.instant(taskCreatedAt, t.CreatedAt)
	a.text(taskCreatedBy, t.CreatedBy)
	a.labels(t.Labels)
	a.number(taskType, int64(t.Type))
	for part, text := range t.Brief.All() {
		a.item(taskBrief+protowire.Number(part), text)
	}
	a.number(taskHistoryCount, int64(t.HistoryCount))
	a.text(taskReviewer, t.Reviewer)
	a.text(taskParentID, t.ParentID)
	a.number(taskDepth, int64(t.Depth))
	a.number(taskChildrenTotal, int64(t.ChildrenTotal))
	a.number(taskChildrenDone, int64(t.ChildrenDone))
	a.instant(taskHeldAt, t.HeldAt)
	a.span(taskLease, t.Lease)
	a.text(taskBlockedReason, t.BlockedReason)
	a.instant(taskClosedAt, t.ClosedAt)
	a.instant(taskNotBefore, t.NotBefore)
	a.text(taskDiscoveredFromID, t.DiscoveredFrom)
	a.text(taskResult, t.Result)
	a.number(taskSubmission, int64(t.Submission))
}

func (a *appending) number(n protowire.Number, v int64) {
	if v != 0 {
		a.b = protowire.AppendVarint(protowire.AppendTag(a.b, n, protowire.VarintType), uint64(v))
	}
}

func (a *appending) text(n protowire.Number, s string) {
	if s != "" {
		a.item(n, s)
	}
}

func (a *appending) texts(n protowire.Number, list []string) {
	for _, s := range list {
		a.item(n, s)
	}
}

// item appends a text also when it is empty.
func (a *appending) item(n protowire.Number, s string) {
	a.invalid = a.invalid || !utf8.ValidString(s)
	a.b = protowire.AppendString(protowire.AppendTag(a.b, n, protowire.BytesType), s)
}

func (a *appending) labels(m map[string]string) {
	if len(m) == 0 {
		return
	}
	var few [8]string // most tasks have fewer
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	for _, key := range keys {
		value := m[key]
		a.open(taskLabels, 2+protowire.SizeBytes(len(key))+protowire.SizeBytes(len(value)))
		a.item(entryKey, key)
		a.item(entryValue, value)
	}
}

// open begins a message of that size within the message.
func (a *appending) open(n protowire.Number, size int) {
	a.b = protowire.AppendVarint(protowire.AppendTag(a.b, n, protowire.BytesType), uint64(size))
}

func (a *appending) instant(n protowire.Number, at time.Time) {
	if !at.IsZero() {
		a.time(n, at.Unix(), int64(at.Nanosecond()))
	}
}

func (a *appending) span(n protowire.Number, d time.Duration) {
	if d != 0 {
		a.time(n, int64(d/time.Second), int64(d%time.Second))
	}
}

func (a *appending) time(n protowire.Number, seconds, nanos int64) {
	a.open(n, sizeNumber(seconds)+sizeNumber(nanos))
	a.number(timeSeconds, seconds)
	a.number(timeNanos, nanos)
}

// sizeNumber is what number appends for a field with a short tag.
func sizeNumber(v int64) int {
	if v == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(uint64(v))
}

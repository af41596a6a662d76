package taskpb

import (
	"math"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// scanTask reads a task as appending.task writes it. It does not read whatever is
// in the least odd, and then says no more: decoding by the generated message finds
// out what that is, and whether it can be read all the same.
func scanTask(b []byte) (*task.Task, bool) {
	t := &task.Task{}
	packer := packers.Get().(*task.BriefPacker)
	defer packers.Put(packer)
	packer.Reset()
	s := scanning{rest: b}
	var title, labels []byte // labels are the entries, tags included
	last := protowire.Number(0)
	for len(s.rest) > 0 && !s.odd {
		before := s.rest
		n, kind := s.tag()
		if n < last {
			return nil, false
		}
		repeated := n == last
		last = n
		if kind == protowire.VarintType {
			if repeated || !s.numberField(t, n) {
				return nil, false
			}
			continue
		}
		if kind != protowire.BytesType {
			return nil, false
		}
		value := s.bytes()
		switch {
		case n == taskDependencyIDs:
			t.Dependencies = append(t.Dependencies, s.name(value))
		case n == taskUnfinishedIDs:
			t.Unfinished = append(t.Unfinished, s.name(value))
		case n == taskLabels:
			if !repeated {
				labels = before[:0]
			}
			labels = labels[:len(labels)+len(before)-len(s.rest)]
		case n >= taskBrief && n < taskHistory:
			s.odd = s.odd || !utf8.Valid(value)
			packer.Add(task.BriefPart(n-taskBrief), value)
		case repeated:
			return nil, false
		case n == taskTitle:
			s.odd, title = s.odd || !utf8.Valid(value), value
		default:
			s.field(t, n, value)
		}
	}
	if s.odd || !packer.InOrder() || t.Number == 0 || !t.Status.Valid() || !isID(t.ID) {
		return nil, false
	}
	t.Title, t.Brief = packer.Packed(title)
	var ok bool
	t.Labels, ok = sharedLabels(labels)
	return t, ok
}

// packers are where briefs are laid together before they get a string of their
// own.
var packers = sync.Pool{New: func() any { return &task.BriefPacker{} }}

// scanning is bytes that are read from the front.
type scanning struct {
	rest []byte
	// odd: something is not as it is always written.
	odd bool
}

// field reads a field that is a text or an instant.
func (s *scanning) field(t *task.Task, n protowire.Number, value []byte) {
	switch n {
	case taskID:
		t.ID = s.name(value)
	case taskKey:
		t.Number = s.key(value)
	case taskAssignee:
		t.Assignee = s.name(value)
	case taskHolder:
		t.Holder = s.name(value)
	case taskUpdatedAt:
		t.UpdatedAt = s.instant(value)
	case taskCreatedAt:
		t.CreatedAt = s.instant(value)
	case taskCreatedBy:
		t.CreatedBy = s.name(value)
	case taskReviewer:
		t.Reviewer = s.name(value)
	case taskParentID:
		t.ParentID = s.name(value)
	case taskHeldAt:
		t.HeldAt = s.instant(value)
	case taskBlockedReason:
		t.BlockedReason = s.text(value)
	case taskClosedAt:
		t.ClosedAt = s.instant(value)
	case taskNotBefore:
		t.NotBefore = s.instant(value)
	case taskDiscoveredFromID:
		t.DiscoveredFrom = s.name(value)
	case taskResult:
		t.Result = s.text(value)
	case taskLease:
		t.Lease = s.span(value)
	default:
		s.odd = true
	}
}

// numberField reads a field that is a number.
func (s *scanning) numberField(t *task.Task, n protowire.Number) bool {
	v := s.positive()
	small := func(most int64) int64 {
		s.odd = s.odd || v > most
		return v
	}
	const int32s = 1<<31 - 1
	switch n {
	case taskStatus:
		t.Status = task.Status(small(int64(task.Failed)))
	case taskPriority:
		t.Priority = task.Priority(small(int64(task.High)))
	case taskType:
		t.Type = task.Type(small(int64(task.Research)))
	case taskRevision:
		t.Revision = v
	case taskVersion:
		t.Version = v
	case taskHistoryCount:
		t.HistoryCount = int(small(int32s))
	case taskDepth:
		t.Depth = int(small(int32s))
	case taskChildrenTotal:
		t.ChildrenTotal = int(small(int32s))
	case taskChildrenDone:
		t.ChildrenDone = int(small(int32s))
	case taskSubmission:
		t.Submission = int32(small(int32s))
	default:
		return false
	}
	return !s.odd
}

func (s *scanning) tag() (protowire.Number, protowire.Type) {
	v := s.varint()
	return protowire.Number(v >> 3), protowire.Type(v & 7)
}

func (s *scanning) varint() uint64 {
	v, n := protowire.ConsumeVarint(s.rest)
	if n < 0 {
		s.rest, s.odd = nil, true
		return 0
	}
	s.rest = s.rest[n:]
	return v
}

// positive is a number that is written only when it is not 0.
func (s *scanning) positive() int64 {
	v := s.varint()
	s.odd = s.odd || v == 0 || v > math.MaxInt64
	return int64(v)
}

func (s *scanning) bytes() []byte {
	v, n := protowire.ConsumeBytes(s.rest)
	if n < 0 {
		s.rest, s.odd = nil, true
		return nil
	}
	s.rest = s.rest[n:]
	return v
}

// text is a string of its own.
func (s *scanning) text(b []byte) string {
	s.odd = s.odd || !utf8.Valid(b)
	return string(b)
}

// name is a string that others may share.
func (s *scanning) name(b []byte) string {
	s.odd = s.odd || !utf8.Valid(b)
	return sharedBytes(b)
}

// key is the number in "T-12".
func (s *scanning) key(b []byte) int64 {
	if len(b) < 3 || b[0] != 'T' || b[1] != '-' || b[2] == '0' || len(b) > 2+18 {
		s.odd = true
		return 0
	}
	var n int64
	for _, c := range b[2:] {
		if c < '0' || c > '9' {
			s.odd = true
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// instant reads a Timestamp of 1970 or later.
func (s *scanning) instant(b []byte) time.Time {
	const most = 253402300799 // the end of the year 9999
	seconds, nanos := s.time(b, most)
	return time.Unix(seconds, nanos).UTC()
}

// span reads a Duration.
func (s *scanning) span(b []byte) time.Duration {
	seconds, nanos := s.time(b, int64(math.MaxInt64/time.Second)-1)
	d := time.Duration(seconds)*time.Second + time.Duration(nanos)
	s.odd = s.odd || d == 0
	return d
}

// time reads a Timestamp or a Duration from 0 to so many seconds.
func (s *scanning) time(b []byte, most int64) (seconds, nanos int64) {
	in := scanning{rest: b}
	var v [2]uint64
	for last := protowire.Number(0); len(in.rest) > 0; {
		n, kind := in.tag()
		if kind != protowire.VarintType || n <= last || n > timeNanos {
			s.odd = true
			return 0, 0
		}
		v[n-timeSeconds], last = in.varint(), n
	}
	s.odd = s.odd || in.odd || v[0] > uint64(most) || v[1] > 999_999_999
	return int64(v[0]), int64(v[1])
}

// isID says whether an id is a UUID as a pool writes it.
func isID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		default:
			return false
		}
	}
	return true
}

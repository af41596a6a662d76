package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

var errSecret = errors.New("disk /secret/path is full")

// kinds is every kind of error, and what a caller gets to see of it: code,
// reason, metadata by key, and the fields of a BadRequest.
var kinds = []struct {
	name   string
	err    error
	code   codes.Code
	reason pool.Reason
	meta   string
	fields string
}{
	{"invalid", &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: task.Violations{{Field: "title", Description: "is empty"}, {Field: "steps[2]", Description: "is long"}}}, codes.InvalidArgument, "INVALID_FIELD", "field=title", "title steps[2]"},
	{"derived", &pool.InvalidError{Reason: "STATUS_DERIVED", Violations: task.Violations{{Field: "status", Description: "is derived"}}}, codes.InvalidArgument, "STATUS_DERIVED", "field=status", "status"},
	{"no task", &pool.NotFoundError{Reason: pool.ReasonTaskNotFound, What: "task", Name: "T-9", Field: "id"}, codes.NotFound, "TASK_NOT_FOUND", "field=id name=T-9", ""},
	{"no pool", &pool.NotFoundError{Reason: pool.ReasonPoolNotFound, What: "pool", Name: "web"}, codes.NotFound, "POOL_NOT_FOUND", "name=web", ""},
	{"no member", &pool.NotFoundError{Reason: pool.ReasonMemberNotFound, What: "member", Name: "a:b", Field: "assignee"}, codes.NotFound, "MEMBER_NOT_FOUND", "field=assignee name=a:b", ""},
	{"ambiguous", &pool.AmbiguousError{Reason: pool.ReasonReferenceAmbiguous, Name: "5a1f0c2e", Field: "id", Candidates: []string{"x", "y"}}, codes.InvalidArgument, "REFERENCE_AMBIGUOUS", "candidates=x,y field=id name=5a1f0c2e", ""},
	{"held", &pool.HeldError{Key: "T-1", Holder: "agent:b", Since: time.Unix(0, 0)}, codes.FailedPrecondition, "HELD", "holder=agent:b since=1970-01-01T00:00:00Z task=T-1", ""},
	{"held with a lease", &pool.HeldError{Key: "T-1", Holder: "agent:b", Since: time.Unix(0, 0), ExpiresAt: time.Unix(60, 5e8)}, codes.FailedPrecondition, "HELD", "expires_at=1970-01-01T00:01:00.5Z holder=agent:b since=1970-01-01T00:00:00Z task=T-1", ""},
	{"hold lost", &pool.HoldLostError{Key: "T-1"}, codes.FailedPrecondition, "HOLD_LOST", "task=T-1", ""},
	{"rule", &pool.RuleError{Reason: pool.ReasonMoveNotAllowed, Message: "no", Allowed: []task.Status{task.Ready, task.InProgress}, Related: []string{"a", "b"}}, codes.FailedPrecondition, "MOVE_NOT_ALLOWED", "allowed=ready,in_progress related_ids=a,b", ""},
	{"cycle", &pool.RuleError{Reason: pool.ReasonCycle, Message: "no", Path: []string{"12.1", "12.4", "12.1"}}, codes.FailedPrecondition, "CYCLE", "path=12.1,12.4,12.1", ""},
	{"confirmation", &pool.RuleError{Reason: pool.ReasonConfirmation, Message: "no"}, codes.FailedPrecondition, "CONFIRMATION_MISMATCH", "", ""},
	{"denied", &pool.DeniedError{Action: "delete", May: []string{"operator", "filer"}}, codes.PermissionDenied, "NOT_PERMITTED", "action=delete who_may=operator,filer", ""},
	{"version", &pool.VersionError{Key: "T-1", Expected: 2, Current: 5}, codes.Aborted, "VERSION_MISMATCH", "current=5 expected=2 task=T-1", ""},
	{"reused", &pool.ReusedError{RequestID: "r"}, codes.AlreadyExists, "REQUEST_ID_REUSED", "request_id=r", ""},
	{"exists", &pool.ExistsError{Name: "web"}, codes.AlreadyExists, "POOL_EXISTS", "", ""},
	{"cursor", &pool.CursorError{Oldest: "o", Head: "h"}, codes.OutOfRange, "CURSOR_EXPIRED", "head=h oldest=o", ""},
	{"queue", &pool.QuotaError{Reason: pool.ReasonQueueFull, Message: "full", RetryAfter: time.Second}, codes.ResourceExhausted, "QUEUE_FULL", "", ""},
	{"batch", &pool.QuotaError{Reason: pool.ReasonBatchTooLarge, Message: "large"}, codes.ResourceExhausted, "BATCH_TOO_LARGE", "", ""},
	{"watchers", &pool.QuotaError{Reason: pool.ReasonWatchersExceeded, Message: "many", RetryAfter: time.Second}, codes.ResourceExhausted, "WATCHERS_EXCEEDED", "", ""},
	{"slow watcher", &tooSlowError{cursor: "c", within: time.Second}, codes.ResourceExhausted, "WATCHER_TOO_SLOW", "cursor=c", ""},
	{"slow watcher, nothing sent", &tooSlowError{within: time.Second}, codes.ResourceExhausted, "WATCHER_TOO_SLOW", "", ""},
	{"store away", &pool.UnavailableError{Reason: pool.ReasonStoreUnavailable, Cause: errSecret}, codes.Unavailable, "STORE_UNAVAILABLE", "", ""},
	{"unknown commit", &pool.UnavailableError{Reason: pool.ReasonCommitUnknown, Cause: context.Canceled}, codes.Unavailable, "COMMIT_UNKNOWN", "", ""},
	{"draining", &pool.UnavailableError{Reason: pool.ReasonDraining}, codes.Unavailable, "DRAINING", "", ""},
	{"later", &pool.LaterError{Feature: "review", Field: "task.reviewer"}, codes.Unimplemented, "NOT_AVAILABLE_YET", "feature=review field=task.reviewer", ""},
	{"later, unmapped", &taskpb.LaterError{Feature: "contracts", Field: "contract"}, codes.Unimplemented, "NOT_AVAILABLE_YET", "feature=contracts field=contract", ""},
	{"method", &methodLaterError{"ClaimTask", "leases", ""}, codes.Unimplemented, "NOT_AVAILABLE_YET", "feature=leases", ""},
	{"wrapped", fmt.Errorf("somewhere: %w", &pool.ExistsError{Name: "web"}), codes.AlreadyExists, "POOL_EXISTS", "", ""},
	{"gone", context.Canceled, codes.Canceled, "", "", ""},
	{"late", fmt.Errorf("wait: %w", context.DeadlineExceeded), codes.DeadlineExceeded, "", "", ""},
	{"unknown", errSecret, codes.Internal, "INTERNAL", "", ""},
	{"wrapped status", fmt.Errorf("call /secret/path: %w", status.Error(codes.NotFound, "x")), codes.Internal, "INTERNAL", "", ""},
	{"panic", &panicError{value: errSecret, stack: []byte("/secret/path")}, codes.Internal, "INTERNAL", "", ""},
}

// told is metadata as the table above writes it.
func told(metadata map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		pairs = append(pairs, key+"="+metadata[key])
	}
	return strings.Join(pairs, " ")
}

func TestTable(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			err := failureOf(k.err)
			st := status.Convert(err)
			if st.Code() != k.code {
				t.Errorf("the code is %s, want %s", st.Code(), k.code)
			}
			if strings.Contains(st.String(), "secret") {
				t.Errorf("the cause is told to the caller: %v", st)
			}
			if !errors.Is(err, k.err) {
				t.Error("the log does not get to see the cause")
			}
			var info *errdetails.ErrorInfo
			var fields []string
			var retry time.Duration
			for _, d := range st.Details() {
				switch d := d.(type) {
				case *errdetails.ErrorInfo:
					if info != nil {
						t.Error("there are two ErrorInfos")
					}
					info = d
				case *errdetails.BadRequest:
					for _, v := range d.GetFieldViolations() {
						fields = append(fields, v.GetField())
					}
				case *errdetails.RetryInfo:
					retry = d.GetRetryDelay().AsDuration()
				}
			}
			if k.reason == "" {
				if info != nil {
					t.Errorf("there is an ErrorInfo: %v", info)
				}
				return
			}
			if info.GetReason() != string(k.reason) || info.GetDomain() != "taskpool" {
				t.Errorf("the info is %v", info)
			}
			if got := told(info.GetMetadata()); got != k.meta {
				t.Errorf("the metadata is %s, want %s", got, k.meta)
			}
			if strings.Join(fields, " ") != k.fields {
				t.Errorf("the fields are %v, want %s", fields, k.fields)
			}
			if q, ok := errors.AsType[*pool.QuotaError](k.err); ok && q.RetryAfter != retry {
				t.Errorf("the delay is %v", retry)
			}
		})
	}
}

// Every reason that an error can have is one of the API.
func TestTable_reasonsAreOfTheAPI(t *testing.T) {
	for _, k := range kinds {
		if k.reason == "" {
			continue
		}
		if _, ok := taskpoolv1.ErrorReason_value["ERROR_REASON_"+string(k.reason)]; !ok {
			t.Errorf("%s is not in error_reason.proto", k.reason)
		}
	}
}

// A status of gRPC itself passes; io.EOF and the like do not become text.
func TestFailureOf_passesStatuses(t *testing.T) {
	own := status.Error(codes.NotFound, "unknown service")
	if got := failureOf(own); got != own { //nolint:errorlint // the very same
		t.Errorf("a status became %v", got)
	}
	if got := status.Convert(failureOf(io.EOF)); got.Code() != codes.Internal || got.Message() != internalText {
		t.Errorf("io.EOF became %v", got)
	}
}

// However much a caller sends or a pool lists, the answer fits into the 8 KiB of
// trailers that every client takes.
func TestFailureOf_isBounded(t *testing.T) {
	long := strings.Repeat("长", 100_000)
	ids := make([]string, 5000)
	for i := range ids {
		ids[i] = "5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11"
	}
	many := make(task.Violations, 5000)
	for i := range many {
		many[i] = task.Violation{Field: fmt.Sprintf("tasks[%d].title", i), Description: "is empty: say in a few words what is to be done"}
	}
	for name, err := range map[string]error{
		"name":       &pool.NotFoundError{Reason: pool.ReasonTaskNotFound, What: "task", Name: long, Field: long},
		"related":    &pool.RuleError{Reason: pool.ReasonHasDependents, Message: long, Related: ids, Path: ids[:30]},
		"violations": &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: many},
		"violation":  &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: task.Violations{{Field: long, Description: long}}},
		"request id": &pool.ReusedError{RequestID: long},
	} {
		t.Run(name, func(t *testing.T) {
			st := status.Convert(failureOf(err))
			encoded := 4*((proto.Size(st.Proto())+2)/3) + percentEncoded(st.Message())
			if encoded > 8000 {
				t.Errorf("the trailers take %d bytes", encoded)
			}
			info := st.Details()[0].(*errdetails.ErrorInfo)
			if name == "related" && (info.GetMetadata()["related_ids_total"] != "5000" || strings.Count(info.GetMetadata()["related_ids"], ",") != maxListed-1) {
				t.Errorf("the metadata is %v", info.GetMetadata())
			}
			if name == "violations" {
				all := st.Details()[1].(*errdetails.BadRequest).GetFieldViolations()
				if last := all[len(all)-1]; len(all) < 20 || last.GetField() != "" || !strings.Contains(last.GetDescription(), fmt.Sprintf("%d more", 5000-len(all)+1)) {
					t.Errorf("%d violations, the last is %v", len(all), last)
				}
			}
		})
	}
}

func percentEncoded(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			n += 2
		}
		n++
	}
	return n
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"é€", 3, "é..."}, {"€", 2, "..."}, {"\xff\xff\xff\xff", 2, "\xff\xff..."}} {
		if got := cut(c.in, c.most); got != c.want {
			t.Errorf("cut(%q, %d) is %q, want %q", c.in, c.most, got, c.want)
		}
	}
}

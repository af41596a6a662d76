package client_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func refusal(t *testing.T, code codes.Code, reason string, metadata map[string]string, more ...protoadapt.MessageV1) error {
	t.Helper()
	details := append([]protoadapt.MessageV1{&errdetails.ErrorInfo{Domain: "taskpool", Reason: reason, Metadata: metadata}}, more...)
	s, err := status.New(code, "a sentence").WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

var predicates = map[string]func(error) bool{
	"IsInvalid": client.IsInvalid, "IsNotFound": client.IsNotFound, "IsHeld": client.IsHeld, "IsHoldLost": client.IsHoldLost,
	"IsRule": client.IsRule, "IsNotPermitted": client.IsNotPermitted, "IsVersionMismatch": client.IsVersionMismatch,
	"IsRequestReused": client.IsRequestReused, "IsCursorExpired": client.IsCursorExpired, "IsQuota": client.IsQuota,
	"IsUnavailable": client.IsUnavailable, "IsCommitUnknown": client.IsCommitUnknown, "IsNotAvailableYet": client.IsNotAvailableYet,
}

func holding(err error) string {
	var names []string
	for _, name := range []string{
		"IsInvalid", "IsNotFound", "IsHeld", "IsHoldLost", "IsRule", "IsNotPermitted", "IsVersionMismatch",
		"IsRequestReused", "IsCursorExpired", "IsQuota", "IsUnavailable", "IsCommitUnknown", "IsNotAvailableYet",
	} {
		if predicates[name](err) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestPredicatesGoByReason(t *testing.T) {
	for _, c := range []struct {
		reason string
		code   codes.Code
		want   string
	}{
		{"INVALID_FIELD", codes.InvalidArgument, "IsInvalid"},
		{"REFERENCE_AMBIGUOUS", codes.InvalidArgument, "IsInvalid"},
		{"TASK_NOT_FOUND", codes.NotFound, "IsNotFound"},
		{"HELD", codes.FailedPrecondition, "IsHeld"},
		{"HOLD_LOST", codes.FailedPrecondition, "IsHoldLost"},
		{"CYCLE", codes.FailedPrecondition, "IsRule"},
		{"NOT_PERMITTED", codes.PermissionDenied, "IsNotPermitted"},
		{"VERSION_MISMATCH", codes.Aborted, "IsVersionMismatch"},
		{"REQUEST_ID_REUSED", codes.AlreadyExists, "IsRequestReused"},
		{"POOL_EXISTS", codes.AlreadyExists, ""},
		{"CURSOR_EXPIRED", codes.OutOfRange, "IsCursorExpired"},
		{"QUEUE_FULL", codes.ResourceExhausted, "IsQuota"},
		{"DRAINING", codes.Unavailable, "IsUnavailable"},
		{"COMMIT_UNKNOWN", codes.Unavailable, "IsUnavailable IsCommitUnknown"},
		{"NOT_AVAILABLE_YET", codes.Unimplemented, "IsNotAvailableYet"},
		{"INTERNAL", codes.Internal, ""},
		{"A_RULE_OF_TOMORROW", codes.FailedPrecondition, "IsRule"},
		{"A_QUOTA_OF_TOMORROW", codes.ResourceExhausted, "IsQuota"},
	} {
		err := refusal(t, c.code, c.reason, nil)
		for _, err := range []error{err, fmt.Errorf("wrapped: %w", err)} {
			if got := holding(err); got != c.want {
				t.Errorf("%s: %q, want %q", c.reason, got, c.want)
			}
			if client.Reason(err) != c.reason {
				t.Errorf("Reason = %q, want %q", client.Reason(err), c.reason)
			}
			if d := client.Details(err); d.Reason != c.reason || d.Message != "a sentence" {
				t.Errorf("details %+v", d)
			}
		}
	}
}

func TestErrorsOfOthersHaveNoReason(t *testing.T) {
	foreign, err := status.New(codes.FailedPrecondition, "x").WithDetails(&errdetails.ErrorInfo{Domain: "example.com", Reason: "HELD"})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{nil, errors.New("HELD"), status.Error(codes.FailedPrecondition, "HELD"), foreign.Err()} {
		if got := holding(err); got != "" || client.Reason(err) != "" || !reflect.DeepEqual(client.Details(err), client.ErrorDetails{}) {
			t.Errorf("%v: %q %q", err, got, client.Reason(err))
		}
	}
	if got := holding(status.Error(codes.Unavailable, "nobody there")); got != "IsUnavailable" {
		t.Errorf("no answer: %q", got)
	}
}

// A reason that is new in the proto gets a predicate, or is listed here.
func TestEveryReasonHasAKind(t *testing.T) {
	without := map[string]bool{
		"UNSPECIFIED": true, "POOL_EXISTS": true, "UNAUTHENTICATED": true, "INTERNAL": true,
		"TASK_DIFFERS": true, // never of a call
	}
	for _, name := range taskpoolv1.ErrorReason_name {
		reason := strings.TrimPrefix(name, "ERROR_REASON_")
		if got := holding(refusal(t, codes.Unknown, reason, nil)); (got == "") != without[reason] {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

func TestDetails(t *testing.T) {
	held := client.Details(refusal(t, codes.FailedPrecondition, "HELD", map[string]string{
		"task_id": "5a1f", "holder": "agent:bob", "since": "2026-01-02T03:04:05Z", "expires_at": "2026-01-02T03:09:05.5Z",
	}))
	if held.Reason != "HELD" || held.Message != "a sentence" || held.TaskID != "5a1f" || held.Holder != "agent:bob" ||
		!held.Since.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || !held.ExpiresAt.Equal(time.Date(2026, 1, 2, 3, 9, 5, 5e8, time.UTC)) {
		t.Errorf("%+v", held)
	}
	rule := client.Details(refusal(t, codes.FailedPrecondition, "CYCLE", map[string]string{
		"path": "ref:a,ref:b,ref:a", "allowed": "ready,done", "open_child_ids": "x,y",
	}))
	if !reflect.DeepEqual(rule.Path, []string{"ref:a", "ref:b", "ref:a"}) || !reflect.DeepEqual(rule.Allowed, []string{"ready", "done"}) ||
		!reflect.DeepEqual(rule.Related, []string{"x", "y"}) {
		t.Errorf("%+v", rule)
	}
	invalid := client.Details(refusal(t, codes.InvalidArgument, "INVALID_FIELD", nil, &errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "task.title", Description: "is empty"}, {Field: "task.links[0]", Description: "is no URL"}},
	}))
	if !reflect.DeepEqual(invalid.Violations, []client.Violation{{"task.title", "is empty"}, {"task.links[0]", "is no URL"}}) {
		t.Errorf("%+v", invalid)
	}
	quota := client.Details(refusal(t, codes.ResourceExhausted, "QUEUE_FULL", map[string]string{"limit": "4096"}, &errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)}))
	if quota.RetryAfter != 2*time.Second || quota.Metadata["limit"] != "4096" {
		t.Errorf("%+v", quota)
	}
	version := client.Details(refusal(t, codes.Aborted, "VERSION_MISMATCH", map[string]string{"expected": "3", "current": "5"}))
	if version.Expected != 3 || version.Current != 5 {
		t.Errorf("%+v", version)
	}
}

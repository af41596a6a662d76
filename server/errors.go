package server

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// answer is what one error is to a caller.
type answer struct {
	code codes.Code
	// reason is "" where the code says all.
	reason   pool.Reason
	text     string
	metadata map[string]string
	// violations go into a BadRequest, retryAfter into a RetryInfo.
	violations task.Violations
	retryAfter time.Duration
}

// The reasons and the text that are the server's own.
const (
	reasonInternal = pool.Reason("INTERNAL")
	reasonTooSlow  = pool.Reason("WATCHER_TOO_SLOW")
	internalText   = "internal error; the server's log says more"
)

// table is the one place where errors become codes, by type; the first row that
// fits counts. An error may wrap the one it is. Texts are the errors' own: they
// say nothing of causes.
var table = []func(error) (answer, bool){
	on(func(e *pool.InvalidError) answer {
		a := answer{code: codes.InvalidArgument, reason: e.Reason, text: e.Error(), violations: e.Violations}
		if len(e.Violations) > 0 {
			a.metadata = meta{"field": e.Violations[0].Field}.known()
		}
		return a
	}),
	on(func(e *pool.NotFoundError) answer {
		return answer{code: codes.NotFound, reason: e.Reason, text: e.Error(), metadata: meta{"name": e.Name, "field": e.Field}.known()}
	}),
	on(func(e *pool.AmbiguousError) answer {
		return answer{code: codes.InvalidArgument, reason: e.Reason, text: e.Error(), metadata: meta{"name": e.Name, "field": e.Field}.list("candidates", e.Candidates).known()}
	}),
	on(func(e *pool.HeldError) answer {
		return answer{code: codes.FailedPrecondition, reason: pool.ReasonHeld, text: e.Error(), metadata: holdMeta(e.Key, e.Holder, e.Since, e.ExpiresAt)}
	}),
	on(func(e *pool.HoldLostError) answer {
		return answer{code: codes.FailedPrecondition, reason: pool.ReasonHoldLost, text: e.Error(), metadata: holdMeta(e.Key, e.Holder, e.Since, e.ExpiresAt)}
	}),
	on(func(e *pool.RuleError) answer {
		m := meta{}.list("allowed", statusNames(e.Allowed)).list("path", e.Path).list("related_ids", e.Related)
		return answer{code: codes.FailedPrecondition, reason: e.Reason, text: e.Error(), metadata: m.known()}
	}),
	on(func(e *pool.DeniedError) answer {
		return answer{code: codes.PermissionDenied, reason: pool.ReasonNotPermitted, text: e.Error(), metadata: meta{"action": e.Action}.list("who_may", e.May).known()}
	}),
	on(func(e *pool.VersionError) answer {
		m := meta{"task": e.Key, "expected": strconv.FormatInt(e.Expected, 10), "current": strconv.FormatInt(e.Current, 10)}
		return answer{code: codes.Aborted, reason: pool.ReasonVersionMismatch, text: e.Error(), metadata: m}
	}),
	on(func(e *pool.ReusedError) answer {
		return answer{code: codes.AlreadyExists, reason: pool.ReasonRequestIDReused, text: e.Error(), metadata: meta{"request_id": e.RequestID}.known()}
	}),
	on(func(e *pool.ExistsError) answer {
		return answer{code: codes.AlreadyExists, reason: pool.ReasonPoolExists, text: e.Error()}
	}),
	on(func(e *pool.CursorError) answer {
		return answer{code: codes.OutOfRange, reason: pool.ReasonCursorExpired, text: e.Error(), metadata: meta{"oldest": e.Oldest, "head": e.Head}.known()}
	}),
	on(func(e *pool.QuotaError) answer {
		return answer{code: codes.ResourceExhausted, reason: e.Reason, text: e.Error(), retryAfter: e.RetryAfter}
	}),
	on(func(e *tooSlowError) answer {
		return answer{code: codes.ResourceExhausted, reason: reasonTooSlow, text: e.Error(), metadata: meta{"cursor": e.cursor}.known()}
	}),
	on(func(e *pool.UnavailableError) answer {
		return answer{code: codes.Unavailable, reason: e.Reason, text: e.Error()}
	}),
	on(func(e *pool.LaterError) answer { return later(e.Error(), e.Feature, e.Field) }),
	on(func(e *taskpb.LaterError) answer { return later(e.Error(), e.Feature, e.Field) }),
	on(func(e *methodLaterError) answer { return later(e.Error(), e.feature, "") }),
	is(context.Canceled, answer{code: codes.Canceled, text: "the caller gave up; whether it took effect is not known"}),
	is(context.DeadlineExceeded, answer{
		code: codes.DeadlineExceeded,
		text: "the call's deadline passed before it was answered; whether it took effect is not known; repeat it with the same request_id",
	}),
}

// on is a row of the table for one type of error.
func on[E error](of func(E) answer) func(error) (answer, bool) {
	return func(err error) (answer, bool) {
		if e, ok := errors.AsType[E](err); ok {
			return of(e), true
		}
		return answer{}, false
	}
}

// is is a row of the table for one error.
func is(target error, a answer) func(error) (answer, bool) {
	return func(err error) (answer, bool) { return a, errors.Is(err, target) }
}

func later(text, feature, field string) answer {
	return answer{code: codes.Unimplemented, reason: pool.ReasonNotAvailableYet, text: text, metadata: meta{"feature": feature, "field": field}.known()}
}

// answerTo looks an error up.
func answerTo(err error) answer {
	for _, row := range table {
		if a, ok := row(err); ok {
			return a
		}
	}
	return answer{code: codes.Internal, reason: reasonInternal, text: internalText}
}

// failure is an error on its way to the caller, with what the log may know.
type failure struct {
	status *status.Status
	reason pool.Reason
	cause  error
}

func (f *failure) Error() string { return f.status.Message() }

// Unwrap returns what happened, for the log.
func (f *failure) Unwrap() error { return f.cause }

// GRPCStatus is what gRPC sends.
func (f *failure) GRPCStatus() *status.Status { return f.status }

// failureOf turns any error into what the caller gets. An error that is a gRPC
// status itself, of a stream or of another service, is passed on; one that
// merely wraps a status is not, as its text is not meant for callers.
func failureOf(err error) error {
	if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return err
	}
	a := answerTo(err)
	return &failure{status: a.status(), reason: a.reason, cause: err}
}

// meta is metadata of an ErrorInfo.
type meta map[string]string

// list adds names, joined; no key when there are none.
func (m meta) list(key string, names []string) meta {
	if len(names) > maxListed {
		m[key+"_total"] = strconv.Itoa(len(names))
		names = names[:maxListed]
	}
	m[key] = strings.Join(names, ",")
	return m
}

// known leaves out what is not said, and cuts what is long.
func (m meta) known() map[string]string {
	for key, value := range m {
		if value == "" {
			delete(m, key)
		} else {
			m[key] = cut(value, maxValueBytes)
		}
	}
	return m
}

func holdMeta(key, holder string, since, expires time.Time) map[string]string {
	return meta{"task": key, "holder": holder, "since": instant(since), "expires_at": instant(expires)}.known()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func statusNames(statuses []task.Status) []string {
	names := make([]string, len(statuses))
	for i, s := range statuses {
		names[i] = s.String()
	}
	return names
}

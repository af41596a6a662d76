package pool

import (
	"fmt"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Reason tells refusals of one kind apart, for programs. The names are those of
// the API's ErrorReason, without the prefix.
type Reason string

// The reasons that the pool gives.
const (
	ReasonInvalidField           Reason = "INVALID_FIELD"
	ReasonMalformedCursor        Reason = "MALFORMED_CURSOR"
	ReasonPageTokenMismatch      Reason = "PAGE_TOKEN_MISMATCH" //nolint:gosec // no credential
	ReasonTaskNotFound           Reason = "TASK_NOT_FOUND"
	ReasonPoolNotFound           Reason = "POOL_NOT_FOUND"
	ReasonMemberNotFound         Reason = "MEMBER_NOT_FOUND"
	ReasonReferenceAmbiguous     Reason = "REFERENCE_AMBIGUOUS"
	ReasonMemberAmbiguous        Reason = "MEMBER_AMBIGUOUS"
	ReasonHeld                   Reason = "HELD"
	ReasonHoldLost               Reason = "HOLD_LOST"
	ReasonMoveNotAllowed         Reason = "MOVE_NOT_ALLOWED"
	ReasonDependenciesUnfinished Reason = "DEPENDENCIES_UNFINISHED"
	ReasonCycle                  Reason = "CYCLE"
	ReasonDuplicateDependency    Reason = "DUPLICATE_DEPENDENCY"
	ReasonDependencyNotFound     Reason = "DEPENDENCY_NOT_FOUND"
	ReasonStatusDerived          Reason = "STATUS_DERIVED"
	ReasonReasonRequired         Reason = "REASON_REQUIRED"
	ReasonChildrenOpen           Reason = "CHILDREN_OPEN"
	ReasonParentClosed           Reason = "PARENT_CLOSED"
	ReasonDepthExceeded          Reason = "DEPTH_EXCEEDED"
	ReasonChildrenExceeded       Reason = "CHILDREN_EXCEEDED"
	ReasonDependenciesExceeded   Reason = "DEPENDENCIES_EXCEEDED"
	ReasonDependentsExceeded     Reason = "DEPENDENTS_EXCEEDED"
	ReasonHistoryFull            Reason = "HISTORY_FULL"
	ReasonThreadFull             Reason = "THREAD_FULL"
	ReasonHasDependents          Reason = "HAS_DEPENDENTS"
	ReasonHasChildren            Reason = "HAS_CHILDREN"
	ReasonPoolExists             Reason = "POOL_EXISTS"
	ReasonConfirmation           Reason = "CONFIRMATION_MISMATCH"
	ReasonNotPermitted           Reason = "NOT_PERMITTED"
	ReasonVersionMismatch        Reason = "VERSION_MISMATCH"
	ReasonRequestIDReused        Reason = "REQUEST_ID_REUSED"
	ReasonCursorExpired          Reason = "CURSOR_EXPIRED"
	ReasonQueueFull              Reason = "QUEUE_FULL"
	ReasonRevisionTooLarge       Reason = "REVISION_TOO_LARGE"
	ReasonBatchTooLarge          Reason = "BATCH_TOO_LARGE"
	ReasonWatchersExceeded       Reason = "WATCHERS_EXCEEDED"
	ReasonDraining               Reason = "DRAINING"
	ReasonStoreUnavailable       Reason = "STORE_UNAVAILABLE"
	ReasonCommitUnknown          Reason = "COMMIT_UNKNOWN"
	ReasonNotAvailableYet        Reason = "NOT_AVAILABLE_YET"
	ReasonPoolNotEmpty           Reason = "POOL_NOT_EMPTY"
	// ReasonTaskDiffers is of a task of an import alone, never of a call.
	ReasonTaskDiffers Reason = "TASK_DIFFERS"
)

// InvalidError says: the request is wrong whatever the state is; every violation is
// listed.
type InvalidError struct {
	Reason     Reason
	Violations task.Violations
}

func (e *InvalidError) Error() string { return e.Violations.Error() }

// NotFoundError says: there is none such, or it is not the caller's to see.
type NotFoundError struct {
	Reason Reason
	// What is "task", "pool" or "member"; Name is what was asked for; Field is
	// the request's field that named it, "" for the request's subject.
	What, Name, Field string
}

func (e *NotFoundError) Error() string {
	at := ""
	if e.Field != "" {
		at = e.Field + ": "
	}
	switch e.What {
	case "task":
		return fmt.Sprintf("%sthere is no task %q; use an id, a key such as T-12, or at least 8 leading characters of an id", at, e.Name)
	case "member":
		return fmt.Sprintf("%sthere is no member %q; use agent:NAME, ext:NAME, human or me", at, e.Name)
	}
	if e.What == "pool" {
		return fmt.Sprintf("%sthere is no pool %q; see ListPools for those there are, or create it", at, e.Name)
	}
	return fmt.Sprintf("%sthere is no %s %q", at, e.What, e.Name)
}

// AmbiguousError says: a short form fits several; Candidates lists them.
type AmbiguousError struct {
	Reason      Reason
	Name, Field string
	Candidates  []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: %q fits several: %s; name one of them in full", orSubject(e.Field), e.Name, list(e.Candidates))
}

// HeldError says: another member works on the task.
type HeldError struct {
	Key, Holder string
	Since       time.Time
	// ExpiresAt is zero when the hold does not expire.
	ExpiresAt time.Time
	// Yours: the holder has the actor's name, and did not carry the token that a
	// hold with a lease asks for.
	Yours bool
}

func (e *HeldError) Error() string {
	if e.Yours {
		return fmt.Sprintf("%s is held by %s since %s with a lease, and only who carries the hold_token of that claim writes as its holder; send it, or, if that was another process of yours, take another task",
			e.Key, e.Holder, stamp(e.Since))
	}
	until := ""
	if !e.ExpiresAt.IsZero() {
		until = ", until " + stamp(e.ExpiresAt) + " unless renewed"
	}
	return fmt.Sprintf("%s is held by %s since %s%s; take another task, or ask %s to release it", e.Key, e.Holder, stamp(e.Since), until, e.Holder)
}

// HoldLostError says: the hold token that was carried is not, or no longer, that of
// the task's hold.
type HoldLostError struct {
	Key string
	// Holder and Since are of the hold there is now, "" and zero when none.
	Holder    string
	Since     time.Time
	ExpiresAt time.Time
}

func (e *HoldLostError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("this hold of %s is over and nobody holds it now; stop the work it was for, or claim the task anew", e.Key)
	}
	return fmt.Sprintf("this hold of %s is over; %s holds it since %s; stop the work it was for", e.Key, e.Holder, stamp(e.Since))
}

// RuleError says: the task's state forbids it.
type RuleError struct {
	Reason  Reason
	Message string
	// Allowed are the statuses the caller could set now; Path is a cycle, first
	// and last equal, of keys, and of "ref:NAME" for tasks not yet created;
	// Related are ids of the tasks behind the refusal.
	Allowed []task.Status
	Path    []string
	Related []string
}

func (e *RuleError) Error() string { return e.Message }

// DeniedError says: who the caller is forbids it.
type DeniedError struct {
	// Action is what was tried: "edit the title of T-12".
	Action string
	// May says who may, by the words filer, assignee, holder, reviewer and
	// operator; Who says the same in a sentence that names the members.
	May []string
	Who string
}

func (e *DeniedError) Error() string { return fmt.Sprintf("you may not %s; %s may", e.Action, e.Who) }

// VersionError says: expected_version is not the task's.
type VersionError struct {
	Key               string
	Expected, Current int64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, not %d: someone changed it; read it again and decide anew", e.Key, e.Current, e.Expected)
}

// ReusedError says: the request_id was used for another request.
type ReusedError struct{ RequestID string }

func (e *ReusedError) Error() string {
	return fmt.Sprintf("request_id %q was used for a different request; use a new one for a new request", e.RequestID)
}

// ExistsError says: there is a pool of that name.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("name: there is a pool %q already; use it, or choose another name", e.Name)
}

// CursorError says: the cursor is not one of this history, or lies outside of what
// is kept.
type CursorError struct {
	// Oldest and Head are cursors: the first usable one and the newest.
	Oldest, Head string
}

func (e *CursorError) Error() string {
	return "the cursor is expired or of another history; list again and go on from the cursor of that answer"
}

// QuotaError says: a bound was met.
type QuotaError struct {
	Reason  Reason
	Message string
	// RetryAfter is 0 where waiting does not help.
	RetryAfter time.Duration
}

func (e *QuotaError) Error() string { return e.Message }

// UnavailableError says: the service can't do it now.
type UnavailableError struct {
	Reason Reason
	// Unread says: the store can't be read either.
	Unread bool
	// Cause is for the log, never for the caller.
	Cause error
}

func (e *UnavailableError) Error() string {
	switch e.Reason {
	case ReasonCommitUnknown:
		return "whether this was stored is not known; repeat it with the same request_id"
	case ReasonDraining:
		return "the server is shutting down; connect again"
	}
	if e.Unread {
		return "the store can't be read now; nothing was changed; an operator should look at the server's disk and log"
	}
	return "the store takes no changes now (reads go on); nothing was changed; an operator should look at the server's disk and log"
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// LaterError says: a part of the contract that this version does not honour, and so
// refuses.
type LaterError struct {
	// Feature names it: "review", "contracts", "leases"; Field is where it was
	// asked for.
	Feature, Field string
}

func (e *LaterError) Error() string {
	return fmt.Sprintf("%s: not available in this version: %s; leave it out", orSubject(e.Field), e.Feature)
}

func orSubject(field string) string {
	if field == "" {
		return "request"
	}
	return field
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// maxListed names stand in one sentence.
const maxListed = 20

func list(names []string) string {
	switch len(names) {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	}
	last := names[len(names)-1]
	if more := len(names) - maxListed; more > 0 {
		last = fmt.Sprintf("%d more", more)
		names = names[:maxListed+1]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + last
}

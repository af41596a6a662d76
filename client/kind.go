package client

import (
	"google.golang.org/grpc/codes"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// kind is what a caller can do about an error.
type kind int

const (
	kindNone            kind = iota
	kindInvalid              // fix the request
	kindNotFound             // there is none, or it is not yours to see
	kindHeld                 // another has it: take another task
	kindHoldLost             // stop working
	kindRule                 // the state forbids it
	kindNotPermitted         // others may
	kindVersion              // read again
	kindReused               // take a new request_id
	kindExists               // take another name
	kindExpired              // start with a snapshot
	kindQuota                // less, or later
	kindUnavailable          // later
	kindNotYet               // not in this version
	kindUnauthenticated      // bring another credential
	kindInternal             // the server's log says more
)

// kinds tells the kind of each reason.
var kinds = map[taskpoolv1.ErrorReason]kind{
	taskpoolv1.ErrorReason_ERROR_REASON_INVALID_FIELD:           kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_MALFORMED_CURSOR:        kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_PAGE_TOKEN_MISMATCH:     kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_REFERENCE_AMBIGUOUS:     kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_MEMBER_AMBIGUOUS:        kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_STATUS_DERIVED:          kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_CONFIRMATION_MISMATCH:   kindInvalid,
	taskpoolv1.ErrorReason_ERROR_REASON_TASK_NOT_FOUND:          kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_POOL_NOT_FOUND:          kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_MEMBER_NOT_FOUND:        kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_GRAPH_NOT_FOUND:         kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_EVENT_NOT_FOUND:         kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_TOKEN_NOT_FOUND:         kindNotFound,
	taskpoolv1.ErrorReason_ERROR_REASON_HELD:                    kindHeld,
	taskpoolv1.ErrorReason_ERROR_REASON_HOLD_LOST:               kindHoldLost,
	taskpoolv1.ErrorReason_ERROR_REASON_MOVE_NOT_ALLOWED:        kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DEPENDENCIES_UNFINISHED: kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_CYCLE:                   kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DUPLICATE_DEPENDENCY:    kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DEPENDENCY_NOT_FOUND:    kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_REASON_REQUIRED:         kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_CHILDREN_OPEN:           kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_PARENT_CLOSED:           kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DEPTH_EXCEEDED:          kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_CHILDREN_EXCEEDED:       kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DEPENDENCIES_EXCEEDED:   kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_DEPENDENTS_EXCEEDED:     kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_HISTORY_FULL:            kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_THREAD_FULL:             kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_HAS_DEPENDENTS:          kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_HAS_CHILDREN:            kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_REVIEW_REQUIRED:         kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_STALE_SUBMISSION:        kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_GATE_REQUIRED:           kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_CONTRACT_FIXED:          kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_NO_ELIGIBLE_REVIEWER:    kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_POOL_NOT_EMPTY:          kindRule,
	taskpoolv1.ErrorReason_ERROR_REASON_NOT_PERMITTED:           kindNotPermitted,
	taskpoolv1.ErrorReason_ERROR_REASON_VERSION_MISMATCH:        kindVersion,
	taskpoolv1.ErrorReason_ERROR_REASON_REQUEST_ID_REUSED:       kindReused,
	taskpoolv1.ErrorReason_ERROR_REASON_POOL_EXISTS:             kindExists,
	taskpoolv1.ErrorReason_ERROR_REASON_CURSOR_EXPIRED:          kindExpired,
	taskpoolv1.ErrorReason_ERROR_REASON_QUEUE_FULL:              kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_REVISION_TOO_LARGE:      kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_BATCH_TOO_LARGE:         kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_WATCHERS_EXCEEDED:       kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_RATE_LIMITED:            kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_WATCHER_TOO_SLOW:        kindQuota,
	taskpoolv1.ErrorReason_ERROR_REASON_DRAINING:                kindUnavailable,
	taskpoolv1.ErrorReason_ERROR_REASON_STORE_UNAVAILABLE:       kindUnavailable,
	taskpoolv1.ErrorReason_ERROR_REASON_COMMIT_UNKNOWN:          kindUnavailable,
	taskpoolv1.ErrorReason_ERROR_REASON_NOT_AVAILABLE_YET:       kindNotYet,
	taskpoolv1.ErrorReason_ERROR_REASON_UNAUTHENTICATED:         kindUnauthenticated,
	taskpoolv1.ErrorReason_ERROR_REASON_INTERNAL:                kindInternal,
}

// newer tells the kind of a reason that this client doesn't know: the server is
// newer, and the code says enough.
var newer = map[codes.Code]kind{
	codes.InvalidArgument:    kindInvalid,
	codes.NotFound:           kindNotFound,
	codes.FailedPrecondition: kindRule,
	codes.PermissionDenied:   kindNotPermitted,
	codes.ResourceExhausted:  kindQuota,
	codes.Unavailable:        kindUnavailable,
	codes.Unimplemented:      kindNotYet,
	codes.Unauthenticated:    kindUnauthenticated,
	codes.Internal:           kindInternal,
}

// kindOf is what a caller can do about err.
func kindOf(err error) kind {
	s, info := taskpoolStatus(err)
	if s == nil {
		return kindNone
	}
	if info == nil {
		// Not from taskpool: gRPC itself, a proxy. Only that nobody answered is
		// worth telling.
		if s.Code() == codes.Unavailable {
			return kindUnavailable
		}
		return kindNone
	}
	if known, ok := kinds[reasonNamed(info.GetReason())]; ok {
		return known
	}
	return newer[s.Code()]
}

package client

import (
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// errorDomain is the domain of the server's ErrorInfo.
const errorDomain = "taskpool"

// Reason is the name of what went wrong: that of an ErrorReason without its
// prefix, such as "HELD". It is "" for nil and for errors that no taskpool server
// sent.
func Reason(err error) string {
	_, info := taskpoolStatus(err)
	return info.GetReason()
}

// IsInvalid: something in the request is wrong, whatever the state is. Details
// lists every violation. Fix the request.
func IsInvalid(err error) bool { return kindOf(err) == kindInvalid }

// IsNotFound: there is no such task, pool or member, or it is not the caller's to
// see.
func IsNotFound(err error) bool { return kindOf(err) == kindNotFound }

// IsHeld: another member works on the task. Take another, or ask the holder.
func IsHeld(err error) bool { return kindOf(err) == kindHeld }

// IsHoldLost: the hold that the request relied on is over. Stop working.
func IsHoldLost(err error) bool { return kindOf(err) == kindHoldLost }

// IsRule: the state of the task or of others forbids it: a move, a cycle, open
// children, a limit of the graph of tasks. Repeating does not help. A hold is no
// rule: see IsHeld and IsHoldLost.
func IsRule(err error) bool { return kindOf(err) == kindRule }

// IsNotPermitted: the actor may not, others may.
func IsNotPermitted(err error) bool { return kindOf(err) == kindNotPermitted }

// IsVersionMismatch: the task changed since it was read. Read it again and
// decide anew.
func IsVersionMismatch(err error) bool { return kindOf(err) == kindVersion }

// IsRequestReused: the request_id was used for another request.
func IsRequestReused(err error) bool { return kindOf(err) == kindReused }

// IsCursorExpired: the history after the cursor is gone. Start with a snapshot.
func IsCursorExpired(err error) bool { return kindOf(err) == kindExpired }

// IsQuota: too much at once. Details tells how long to wait where waiting helps.
func IsQuota(err error) bool { return kindOf(err) == kindQuota }

// IsUnavailable: the server can't be reached or can't do it now. It holds for
// IsCommitUnknown too; and when the connection broke during a mutation, only
// repeating it under the same request_id tells whether it happened.
func IsUnavailable(err error) bool { return kindOf(err) == kindUnavailable }

// IsCommitUnknown: nobody knows whether the mutation is on disk. Repeat it under
// the same request_id.
func IsCommitUnknown(err error) bool {
	return isReason(err, taskpoolv1.ErrorReason_ERROR_REASON_COMMIT_UNKNOWN)
}

// IsNotAvailableYet: this server does not honour that part of the API yet.
func IsNotAvailableYet(err error) bool { return kindOf(err) == kindNotYet }

func isReason(err error, reason taskpoolv1.ErrorReason) bool {
	_, info := taskpoolStatus(err)
	return info != nil && reasonNamed(info.GetReason()) == reason
}

// reasonNamed is the reason of that name, UNSPECIFIED for one that this client
// does not know.
func reasonNamed(name string) taskpoolv1.ErrorReason {
	return taskpoolv1.ErrorReason(taskpoolv1.ErrorReason_value["ERROR_REASON_"+name])
}

// taskpoolStatus is the status in err, nil if it holds none, with the server's
// ErrorInfo, nil if it has none.
func taskpoolStatus(err error) (*status.Status, *errdetails.ErrorInfo) {
	// Not status.FromError: it puts the words of wrapping errors, such as gRPC's
	// on repeated calls, into the message.
	var sent interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &sent) {
		return nil, nil
	}
	s := sent.GRPCStatus()
	if s.Code() == codes.OK {
		return nil, nil
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == errorDomain {
			return s, info
		}
	}
	return s, nil
}

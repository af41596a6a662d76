package task

import "slices"

// What a row waits for before it can be made.
const (
	featureReview    = "review"
	featureContracts = "contracts"
	featureGraphs    = "graphs"
)

const (
	notClosed = StatusSet(1<<Pending | 1<<Ready | 1<<InProgress | 1<<Review | 1<<Blocked | 1<<Failed)
	ended     = StatusSet(1<<Done | 1<<Cancelled | 1<<Failed)
	worked    = StatusSet(1<<InProgress | 1<<Review)

	whoMayBlock  = ByHolder | ByAssignee | ByFiler | ByOperator
	whoMayAssign = ByHolder | ByAssignee | ByFiler | ByOperator | ByAnyoneIfUnassigned
	whoMayReopen = ByFiler | ByOperator | ByAnyoneUnderEditRule
	whoReviews   = ByReviewer | ByOperator

	toClose = DependenciesDone | ChildrenClosed
)

// moves is the table of moves: every way from one status to another. What is
// not here can't happen. Setting the status that a task has already is not a
// move and does nothing. Of the rows with one status in From, one To and one
// trigger, at most one is for tasks with a contract and one for tasks without.
var moves = []Move{
	// (new) → open.
	{From: SetOf(StatusUnspecified), To: Ready, Via: ViaCreate, By: ByAnyone},

	// pending ↔ ready, in the revision of the cause.
	{From: SetOf(Pending), To: Ready, Via: ViaDerive, By: ByPool, When: DependenciesDone | NotBeforeReached},
	{From: SetOf(Ready), To: Pending, Via: ViaDerive, By: ByPool},

	// ready → in_progress: a claim. Setting in_progress is one.
	{From: SetOf(Ready), To: InProgress, Via: ViaClaim | ViaSet, By: ByAssignee | ByAnyoneIfUnassigned, When: DependenciesDone | MayTake},

	// ready → done, without having been held.
	{
		From: SetOf(Ready), To: Done, Via: ViaSet, By: ByAnyoneIfUnassigned | ByAssignee | ByFiler | ByOperator,
		When: NoContract | NoOtherReviewer | toClose,
	},

	// in_progress → open: put back.
	{From: SetOf(InProgress), To: Ready, Via: ViaRelease | ViaSet, By: ByHolder | ByOperator, DropsHold: true},
	{From: SetOf(InProgress), To: Ready, Via: ViaSubmitError, By: ByHolder | ByOperator, When: NoContract, DropsHold: true},
	{From: SetOf(InProgress), To: Ready, Via: ViaExpiry, By: ByPool, DropsHold: true},
	{From: SetOf(InProgress), To: Ready, Via: ViaAssign, By: whoMayAssign, DropsHold: true},

	// in_progress → done: a close, not a PASS.
	{
		From: SetOf(InProgress), To: Done, Via: ViaSet | ViaSubmit, By: ByHolder | ByOperator,
		When: NoContract | NoOtherReviewer | toClose, DropsHold: true,
	},

	// in_progress → review: handed in. A dependency reopened meanwhile does not
	// hinder it.
	{
		From: SetOf(InProgress), To: Review, Via: ViaSet | ViaSubmit, By: ByHolder | ByOperator,
		When: NoContract | OtherReviewer, DropsHold: true, Feature: featureReview,
	},
	{From: SetOf(InProgress), To: Review, Via: ViaGatePassed, By: ByPool, When: HasContract, DropsHold: true, Feature: featureContracts},

	// in_progress, gating → open: an attempt has failed.
	{
		From: SetOf(InProgress), To: Ready, Via: ViaGateFailed, By: ByPool,
		When: HasContract | AttemptsLeft, DropsHold: true, UsesAttempt: true, Feature: featureContracts,
	},
	{
		From: SetOf(InProgress), To: Ready, Via: ViaSubmitError, By: ByHolder | ByOperator,
		When: HasContract | AttemptsLeft, DropsHold: true, UsesAttempt: true, Feature: featureContracts,
	},

	// in_progress, gating → done: the contract waives review.
	{
		From: SetOf(InProgress), To: Done, Via: ViaGatePassed, By: ByPool,
		When: HasContract | ReviewWaived | toClose, DropsHold: true, Feature: featureContracts,
	},

	// review → done: a verdict. Without a contract setting done is one.
	{
		From: SetOf(Review), To: Done, Via: ViaPass | ViaSet, By: whoReviews,
		When: NoContract | NotExecutor | toClose, DropsHold: true, Feature: featureReview,
	},
	{
		From: SetOf(Review), To: Done, Via: ViaPass, By: whoReviews,
		When: HasContract | NotExecutor | toClose, DropsHold: true, Feature: featureContracts,
	},
	{From: SetOf(Review), To: Done, Via: ViaWaive, By: ByOperator, When: toClose, DropsHold: true, Feature: featureReview},

	// review → open: a verdict, with a reason.
	{
		From: SetOf(Review), To: Ready, Via: ViaFail | ViaSet, By: whoReviews,
		When: NoContract | ReasonRequired, DropsHold: true, Feature: featureReview,
	},
	{
		From: SetOf(Review), To: Ready, Via: ViaFail, By: whoReviews,
		When: HasContract | ReasonRequired | AttemptsLeft, DropsHold: true, UsesAttempt: true, Feature: featureContracts,
	},

	// review → review: the reviewer's hold alone ends.
	{From: SetOf(Review), To: Review, Via: ViaRelease, By: ByHolder | ByOperator, DropsHold: true, Feature: featureReview},
	{From: SetOf(Review), To: Review, Via: ViaExpiry, By: ByPool, DropsHold: true, Feature: featureReview},

	// in_progress, review → failed. A reviewer's expired hold never counts.
	{
		From: SetOf(InProgress), To: Failed, Via: ViaGateFailed | ViaSubmitError, By: ByPool,
		When: HasContract | AttemptsUsedUp, DropsHold: true, UsesAttempt: true, Feature: featureContracts,
	},
	{
		From: SetOf(Review), To: Failed, Via: ViaFail, By: ByPool,
		When: HasContract | AttemptsUsedUp, DropsHold: true, UsesAttempt: true, Feature: featureContracts,
	},
	{From: SetOf(InProgress), To: Failed, Via: ViaExpiry, By: ByPool, When: ExpiredTooOften, DropsHold: true},

	// in_progress, review → open: the graph was cancelled.
	{From: worked, To: Ready, Via: ViaGraphCancel, By: ByPool, DropsHold: true, Feature: featureGraphs},

	// open, in_progress → blocked, and back by whoever may block.
	{
		From: SetOf(Pending, Ready, InProgress), To: Blocked, Via: ViaSet, By: whoMayBlock,
		When: ReasonRequired, DropsHold: true,
	},
	{From: SetOf(Blocked), To: Ready, Via: ViaSet, By: whoMayBlock},

	// any not closed → cancelled.
	{From: notClosed, To: Cancelled, Via: ViaSet, By: ByFiler | ByOperator, When: ChildrenClosed, DropsHold: true},

	// done, cancelled, failed → open: reopened, or reopened and claimed in one.
	{From: ended, To: Ready, Via: ViaSet, By: whoMayReopen},
	{From: ended, To: InProgress, Via: ViaSet, By: whoMayReopen, When: DependenciesDone | NotBeforeReached | MayTake},
	{From: SetOf(Failed), To: Ready, Via: ViaRetry, By: whoMayReopen, Feature: featureGraphs},
}

// Moves is the table of moves, as a copy.
func Moves() []Move { return slices.Clone(moves) }

// FindMove gives the row for t going to a status by that trigger, where Ready
// means open: put back, unblock or reopen, by where t stands. A nil t is a task
// that does not exist yet. False when there is no such row for t, with a
// contract or without as t is; who may and on what condition is for the row to
// say. A row of a later feature is given as well.
func FindMove(t *Task, to Status, via Via) (Move, bool) {
	from, other := StatusUnspecified, HasContract
	if t != nil {
		from = t.Status
		if contracted(t) {
			other = NoContract
		}
	}
	for i := range moves {
		m := &moves[i]
		if m.To == to && m.Via&via != 0 && m.From.Has(from) && m.When&other == 0 {
			return *m, true
		}
	}
	return Move{}, false
}

// AllowedNow lists the statuses that this actor may set for t by an update now,
// in the order they are declared: for the errors of moves that are not allowed.
// Moves that need only a reason count as allowed; ones that need an operator's
// force, or a feature the pool lacks, do not.
func AllowedNow(t *Task, a Actor, rules Rules) []Status {
	var allowed []Status
	for _, to := range Statuses() {
		m, ok := FindMove(t, to, ViaSet)
		if ok && m.Feature == "" && m.By.Includes(t, a, rules) && m.Unmet(t, a) == 0 {
			allowed = append(allowed, to)
		}
	}
	return allowed
}

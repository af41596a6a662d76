package task

// Via is a set of what triggers a move: any of them will do.
type Via uint32

// The triggers.
const (
	// ViaCreate: CreateTask, CreateTasks, a plan, an import.
	ViaCreate Via = 1 << iota
	// ViaDerive: a dependency, not_before or a graph opened or shut the task.
	ViaDerive
	// ViaSet: UpdateTask with a status.
	ViaSet
	// ViaClaim: ClaimTask.
	ViaClaim
	// ViaRelease: ReleaseTask.
	ViaRelease
	// ViaAssign: UpdateTask with another assignee.
	ViaAssign
	// ViaSubmit: SubmitTask with a result.
	ViaSubmit
	// ViaSubmitError: SubmitTask with an error.
	ViaSubmitError
	// ViaGatePassed and ViaGateFailed: ReportGate.
	ViaGatePassed
	ViaGateFailed
	// ViaPass, ViaFail and ViaWaive: ReviewTask.
	ViaPass
	ViaFail
	ViaWaive
	// ViaExpiry: the hold's lease ran out.
	ViaExpiry
	// ViaGraphCancel: CancelGraph.
	ViaGraphCancel
	// ViaRetry: RetryTask, StartGraph.
	ViaRetry
)

// When is a set of conditions on a move: all of them must be met.
type When uint32

// The conditions. Those up to MayTake are judged by [Move.Unmet]; the others
// need what a Task does not tell and are the pool's to judge.
const (
	// NoContract: the task has no contract.
	NoContract When = 1 << iota
	// HasContract: it has one.
	HasContract
	// NoOtherReviewer: no reviewer is set but the actor.
	NoOtherReviewer
	// OtherReviewer: a reviewer other than the actor is set.
	OtherReviewer
	// DependenciesDone: every dependency is done.
	DependenciesDone
	// ChildrenClosed: every child is done or cancelled. An operator can force
	// past it, which is recorded.
	ChildrenClosed
	// MayTake: unassigned (an assignment that a claim made is taken back by
	// reopening) or assigned to the actor.
	MayTake

	// ReasonRequired: the actor must say why.
	ReasonRequired
	// NotExecutor: the actor never executed this task.
	NotExecutor
	// ReviewWaived: the contract waives review.
	ReviewWaived
	// AttemptsLeft: the contract allows another attempt.
	AttemptsLeft
	// AttemptsUsedUp: it does not.
	AttemptsUsedUp
	// ExpiredTooOften: three holds in a row expired; as many as max_attempts
	// where those are more.
	ExpiredTooOften
	// NotBeforeReached: not_before is not set, or has come.
	NotBeforeReached
)

// judged are the conditions that Unmet judges.
const judged = MayTake<<1 - 1

// StatusSet is a set of statuses. StatusUnspecified in it stands for a task
// that does not exist yet.
type StatusSet uint16

// SetOf is the set of these statuses.
func SetOf(statuses ...Status) StatusSet {
	var set StatusSet
	for _, s := range statuses {
		set |= 1 << s
	}
	return set
}

// Has says whether s is in the set.
func (set StatusSet) Has(s Status) bool { return set&(1<<s) != 0 }

// Move is one row of the table of moves.
type Move struct {
	From StatusSet
	// To is the status after the move. Ready stands for "open": the result is
	// pending or ready as derived (but a ViaDerive row means what it says).
	To  Status
	Via Via
	// By says who may; the pool checks the hold before it.
	By Who
	// When says what must be so.
	When When
	// DropsHold: the hold ends with the move.
	DropsHold bool
	// UsesAttempt: the move ends an attempt that counts.
	UsesAttempt bool
	// Feature names what the move waits for and the pool can't do yet; "" when
	// it can be made now.
	Feature string
}

// Unmet gives those of the move's conditions that t and the actor do not meet.
// It judges NoContract … MayTake; of the others it says nothing.
func (m Move) Unmet(t *Task, a Actor) When {
	var met When
	if contracted(t) {
		met |= HasContract
	} else {
		met |= NoContract
	}
	if t.Reviewer == "" || t.Reviewer == a.ID {
		met |= NoOtherReviewer
	} else {
		met |= OtherReviewer
	}
	if len(t.Unfinished) == 0 {
		met |= DependenciesDone
	}
	if t.ChildrenOpen == 0 {
		met |= ChildrenClosed
	}
	if t.Assignee == "" || t.Assignee == a.ID || t.AssignedByClaim && (t.Closed() || t.Status == Failed) {
		met |= MayTake
	}
	return m.When & judged &^ met
}

// contracted says whether the task has a contract. None has before contracts
// are a feature.
func contracted(*Task) bool { return false }

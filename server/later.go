package server

import (
	"context"
	"fmt"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// The methods that this version does not have. Each says so itself, so that
// callers learn which part is missing and what to use until then.

// methodLaterError is the answer of a method that comes later.
type methodLaterError struct {
	method, feature, instead string
}

func (e *methodLaterError) Error() string {
	text := fmt.Sprintf("%s is not available in this version: it comes with %s", e.method, e.feature)
	if e.instead != "" {
		text += "; " + e.instead
	}
	return text
}

// notYet is what such a method returns.
func notYet[Resp any](method, feature, instead string) (Resp, error) {
	var none Resp
	return none, &methodLaterError{method, feature, instead}
}

const insteadOfSubmit = "use UpdateTask with the status DONE to close a task, and ReleaseTask to put it back"

// SubmitTask implements [taskpoolv1.TaskServiceServer].
func (*taskService) SubmitTask(context.Context, *taskpoolv1.SubmitTaskRequest) (*taskpoolv1.SubmitTaskResponse, error) {
	return notYet[*taskpoolv1.SubmitTaskResponse]("SubmitTask", "review", insteadOfSubmit)
}

// ReportGate implements [taskpoolv1.TaskServiceServer].
func (*taskService) ReportGate(context.Context, *taskpoolv1.ReportGateRequest) (*taskpoolv1.ReportGateResponse, error) {
	return notYet[*taskpoolv1.ReportGateResponse]("ReportGate", "contracts", "")
}

// ReviewTask implements [taskpoolv1.TaskServiceServer].
func (*taskService) ReviewTask(context.Context, *taskpoolv1.ReviewTaskRequest) (*taskpoolv1.ReviewTaskResponse, error) {
	return notYet[*taskpoolv1.ReviewTaskResponse]("ReviewTask", "review", "")
}

// RedactEvent implements [taskpoolv1.TaskServiceServer].
func (*taskService) RedactEvent(context.Context, *taskpoolv1.RedactEventRequest) (*taskpoolv1.RedactEventResponse, error) {
	return notYet[*taskpoolv1.RedactEventResponse]("RedactEvent", "redaction", "DeleteTask removes a task with its whole thread")
}

// graphService is GraphService, all of which comes later.
type graphService struct {
	taskpoolv1.UnsafeGraphServiceServer
}

var _ taskpoolv1.GraphServiceServer = graphService{}

// PlanGraph implements [taskpoolv1.GraphServiceServer].
func (graphService) PlanGraph(context.Context, *taskpoolv1.PlanGraphRequest) (*taskpoolv1.PlanGraphResponse, error) {
	return notYet[*taskpoolv1.PlanGraphResponse]("PlanGraph", "graphs", "CreateTasks makes tasks with dependencies between them")
}

// StartGraph implements [taskpoolv1.GraphServiceServer].
func (graphService) StartGraph(context.Context, *taskpoolv1.StartGraphRequest) (*taskpoolv1.StartGraphResponse, error) {
	return notYet[*taskpoolv1.StartGraphResponse]("StartGraph", "graphs", "")
}

// GetGraph implements [taskpoolv1.GraphServiceServer].
func (graphService) GetGraph(context.Context, *taskpoolv1.GetGraphRequest) (*taskpoolv1.GetGraphResponse, error) {
	return notYet[*taskpoolv1.GetGraphResponse]("GetGraph", "graphs", "")
}

// ListGraphs implements [taskpoolv1.GraphServiceServer].
func (graphService) ListGraphs(context.Context, *taskpoolv1.ListGraphsRequest) (*taskpoolv1.ListGraphsResponse, error) {
	return notYet[*taskpoolv1.ListGraphsResponse]("ListGraphs", "graphs", "")
}

// RetryTask implements [taskpoolv1.GraphServiceServer].
func (graphService) RetryTask(context.Context, *taskpoolv1.RetryTaskRequest) (*taskpoolv1.RetryTaskResponse, error) {
	return notYet[*taskpoolv1.RetryTaskResponse]("RetryTask", "graphs", "")
}

// CancelGraph implements [taskpoolv1.GraphServiceServer].
func (graphService) CancelGraph(context.Context, *taskpoolv1.CancelGraphRequest) (*taskpoolv1.CancelGraphResponse, error) {
	return notYet[*taskpoolv1.CancelGraphResponse]("CancelGraph", "graphs", "")
}

// PruneGraphs implements [taskpoolv1.GraphServiceServer].
func (graphService) PruneGraphs(context.Context, *taskpoolv1.PruneGraphsRequest) (*taskpoolv1.PruneGraphsResponse, error) {
	return notYet[*taskpoolv1.PruneGraphsResponse]("PruneGraphs", "graphs", "")
}

// authService is AuthService, all of which comes later.
type authService struct {
	taskpoolv1.UnsafeAuthServiceServer
}

var _ taskpoolv1.AuthServiceServer = authService{}

// CreateToken implements [taskpoolv1.AuthServiceServer].
func (authService) CreateToken(context.Context, *taskpoolv1.CreateTokenRequest) (*taskpoolv1.CreateTokenResponse, error) {
	return notYet[*taskpoolv1.CreateTokenResponse]("CreateToken", "authentication", "callers say who they are by the metadata key "+ActorKey)
}

// ListTokens implements [taskpoolv1.AuthServiceServer].
func (authService) ListTokens(context.Context, *taskpoolv1.ListTokensRequest) (*taskpoolv1.ListTokensResponse, error) {
	return notYet[*taskpoolv1.ListTokensResponse]("ListTokens", "authentication", "")
}

// RevokeToken implements [taskpoolv1.AuthServiceServer].
func (authService) RevokeToken(context.Context, *taskpoolv1.RevokeTokenRequest) (*taskpoolv1.RevokeTokenResponse, error) {
	return notYet[*taskpoolv1.RevokeTokenResponse]("RevokeToken", "authentication", "")
}

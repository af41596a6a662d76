package main

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestEventsInWords(t *testing.T) {
	names := &titles{known: map[string]*taskpoolv1.Task{"a": {Key: "T-1"}, "b": {Key: "T-2"}}, asked: mostTitles}
	const ready, pending = taskpoolv1.TaskStatus_TASK_STATUS_READY, taskpoolv1.TaskStatus_TASK_STATUS_PENDING
	for want, e := range map[string]*taskpoolv1.TaskEvent{
		"what the server says":        {Body: "what the server says", Detail: &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{Title: "x"}}},
		"(taken away by an operator)": {Redacted: true},
		"for 1m30s":                   {Detail: &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Lease: durationpb.New(90 * time.Second)}}},
		"agent:bob: tired":            {Detail: &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{Holder: "agent:bob", Reason: "tired"}}},
		"ready → pending, waits for T-1, T-2": {Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{
			From: ready, To: pending, UnfinishedDependencyIds: []string{"a", "b"},
		}}},
		"none → ready, forced: why": {Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{To: ready, Forced: true, Reason: "why"}}},
		"pending → pending, in vain: T-1 was given up": {Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{
			From: pending, To: pending, GivenUpDependencyId: "a",
		}}},
		"nobody → agent:bob": {Detail: &taskpoolv1.TaskEvent_Assigned{Assigned: &taskpoolv1.AssignedDetail{To: "agent:bob"}}},
		"added T-2": {Detail: &taskpoolv1.TaskEvent_Subtask{Subtask: &taskpoolv1.SubtaskDetail{
			ChildId: "b", Kind: taskpoolv1.SubtaskKind_SUBTASK_KIND_ADDED,
		}}},
		"title, labels a, b, without labels c": {Detail: &taskpoolv1.TaskEvent_Edited{Edited: &taskpoolv1.EditedDetail{
			Fields: []string{"title"}, SetLabels: []string{"a", "b"}, RemovedLabels: []string{"c"},
		}}},
		"added T-1, removed T-2": {Detail: &taskpoolv1.TaskEvent_Dependency{Dependency: &taskpoolv1.DependencyDetail{
			AddedIds: []string{"a"}, RemovedIds: []string{"b"},
		}}},
		"T-1 was given up: it is waited for in vain until it is reopened or removed": {Detail: &taskpoolv1.TaskEvent_Dependency{Dependency: &taskpoolv1.DependencyDetail{GivenUpId: "a"}}},
		"of agent:bob":   {Detail: &taskpoolv1.TaskEvent_HoldExpired{HoldExpired: &taskpoolv1.HoldExpiredDetail{Holder: "agent:bob"}}},
		"fail: does not": {Detail: &taskpoolv1.TaskEvent_Verdict{Verdict: &taskpoolv1.VerdictDetail{Verdict: taskpoolv1.Verdict_VERDICT_FAIL, Evidence: "does not"}}},
		"":               {Detail: &taskpoolv1.TaskEvent_Comment{Comment: &taskpoolv1.CommentDetail{}}},
	} {
		if got := happening(e, names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

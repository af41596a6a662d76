package main

import (
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// statusStyle is how a status looks: what can be done is green, what runs
// yellow, what needs somebody red or magenta.
func statusStyle(s taskpoolv1.TaskStatus) terminal.Style {
	switch s {
	case taskpoolv1.TaskStatus_TASK_STATUS_READY:
		return terminal.Green
	case taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS:
		return terminal.Yellow
	case taskpoolv1.TaskStatus_TASK_STATUS_REVIEW:
		return terminal.Magenta
	case taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED, taskpoolv1.TaskStatus_TASK_STATUS_FAILED:
		return terminal.Red
	case taskpoolv1.TaskStatus_TASK_STATUS_PENDING, taskpoolv1.TaskStatus_TASK_STATUS_DONE, taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED:
		return terminal.Dim
	}
	return terminal.Plain
}

func priorityStyle(p taskpoolv1.TaskPriority) terminal.Style {
	if p == taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH {
		return terminal.Red
	}
	return terminal.Plain
}

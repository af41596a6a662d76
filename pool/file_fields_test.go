package pool_test

import (
	"reflect"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// What becomes of each field of a task when a pool is saved and loaded. A new
// field has to be put here: into the file, among what Save refuses, or among what
// its comment says begins anew.
var inFiles = map[string]string{
	"ID": "kept", "Title": "kept", "Brief": "kept", "Priority": "kept", "Type": "kept", "Status": "kept", "Dependencies": "kept",
	"HistoryCount": "kept",

	"Labels": "refused", "Reviewer": "refused", "ParentID": "refused", "Lease": "refused", "BlockedReason": "refused",
	"NotBefore": "refused", "DiscoveredFrom": "refused", "Result": "refused", "Submission": "refused", "Assignee": "refused",

	"Unfinished": "derived", "HistoryLength": "derived", "EventCount": "derived",
	"Depth": "derived", "ChildrenTotal": "derived", "ChildrenDone": "derived", "ChildrenOpen": "derived",

	"Number": "anew", "AssignedByClaim": "anew", "CreatedBy": "anew", "Holder": "anew", "HeldAt": "anew",
	"CreatedAt": "anew", "UpdatedAt": "anew", "ClosedAt": "anew", "Revision": "anew", "Version": "anew",
}

var briefsInFiles = map[string]string{
	"Description": "kept", "AcceptanceCriteria": "kept", "Links": "kept", "Steps": "kept", "Constraints": "kept",
	"OutOfScope": "kept", "Verification": "kept", "Context": "kept", "EdgeCases": "kept",
	"Body": "refused",
}

var eventsInFiles = map[task.EventKind]string{
	task.EventProgress: "kept",
	task.EventComment:  "refused", task.EventSubmitted: "refused", task.EventGate: "refused", task.EventVerdict: "refused", task.EventRetried: "refused",
	task.EventCreated: "anew", task.EventClaimed: "anew", task.EventReleased: "anew", task.EventStatus: "anew", task.EventAssigned: "anew",
	task.EventImported: "anew", task.EventSubtask: "anew", task.EventEdited: "anew", task.EventDependency: "anew", task.EventHoldExpired: "anew",
}

func TestSave_knowsEveryField(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		known map[string]string
	}{{reflect.TypeFor[task.Task](), inFiles}, {reflect.TypeFor[task.Brief](), briefsInFiles}} {
		for field := range c.of.Fields() {
			if c.known[field.Name] == "" {
				t.Errorf("what becomes of %s.%s in a file?", c.of.Name(), field.Name)
			}
		}
	}
	for _, kind := range task.EventKinds() {
		if eventsInFiles[kind] == "" {
			t.Errorf("what becomes of events of the kind %s in a file?", kind)
		}
	}
}

package client_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// What a server may not send is a failure like others: told, and resumed before
// it.
func TestViolationsAreFailures(t *testing.T) {
	bare := upserted(3, "b2")
	bare.Task = nil
	bareGraph := &taskpoolv1.WatchTasksResponse{Cursor: "c3", Message: &taskpoolv1.WatchTasksResponse_Changes{
		Changes: &taskpoolv1.WatchChanges{Graphs: []*taskpoolv1.GraphChange{{Revision: 3, GraphId: "tg-1", Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED}}},
	}}
	good := changes("c2", upserted(2, "a1"))
	uncursored := changes("", upserted(3, "b2"))
	uncursored.GetChanges().More = false
	for name, c := range map[string]struct {
		after    string // "": a snapshot, "now": now
		messages []message
		want     string // of the failure
		starts   string
	}{
		"changes before it is open":         {"c1", []message{good}, "changes before", "c1 c1"},
		"progress before it is open":        {"c1", []message{progress("c2")}, "progress before", "c1 c1"},
		"opened twice":                      {"c1", []message{opened("c1"), good, opened("c2")}, "opened again", "c1 c2"},
		"now without a cursor":              {"now", []message{opened("")}, "doesn't say where", "now now"},
		"a snapshot that nobody asked for":  {"c1", []message{opened("c1"), good, snapshot(task("a1", 1))}, "out of place", "c1 c2"},
		"its end":                           {"c1", []message{opened("c1"), snapshotEnd("c9")}, "out of place", "c1 c1"},
		"a snapshot before it is open":      {"", []message{snapshot(task("a1", 1))}, "out of place", "snapshot snapshot"},
		"changes within a snapshot":         {"", []message{opened(""), snapshot(task("a1", 1)), good}, "changes before", "snapshot snapshot"},
		"progress within a snapshot":        {"", []message{opened(""), snapshot(task("a1", 1)), progress("c2")}, "progress within", "snapshot snapshot"},
		"a snapshot without a cursor":       {"", []message{opened(""), snapshotEnd("")}, "without a cursor", "snapshot snapshot"},
		"a snapshot again":                  {"", []message{opened(""), snapshotEnd("c1"), snapshotEnd("c2")}, "out of place", "snapshot c1"},
		"changes without a cursor":          {"c1", []message{opened("c1"), good, uncursored}, "without a cursor", "c1 c2"},
		"a revision again":                  {"c1", []message{opened("c1"), good, good}, "revision 2 after revision 2", "c1 c2"},
		"a revision from before":            {"c1", []message{opened("c1"), good, changes("c1", upserted(1, "b2"))}, "revision 1 after revision 2", "c1 c2"},
		"a revision from before a snapshot": {"", []message{opened(""), snapshot(task("a1", 5)), snapshotEnd("c5"), good}, "revision 2 after revision 5", "snapshot c5"},
		"a cursor from before":              {"c1", []message{opened("c1"), by(2, good), by(1, progress("c1"))}, "the cursor of revision 1 after revision 2", "c1 c2"},
		"a cursor before its changes":       {"c1", []message{opened("c1"), by(1, good)}, "the cursor of revision 1 after revision 2", "c1 c1"},
		"a cursor before its snapshot":      {"", []message{opened(""), snapshot(task("a1", 5)), by(4, snapshotEnd("c4"))}, "the cursor of revision 4 after revision 5", "snapshot snapshot"},
		"a change from before the cursor":   {"c1", []message{opened("c1"), by(5, progress("c5")), changes("c4", upserted(4, "a1"))}, "revision 4 after revision 5", "c1 c5"},
		"no revision":                       {"c1", []message{opened("c1"), changes("c2", upserted(0, "a1"))}, "revision 0 after", "c1 c1"},
		"out of order within a message":     {"c1", []message{opened("c1"), changes("c9", upserted(3, "a1"), upserted(2, "a1"))}, "revision 2 after revision 3", "c1 c1"},
		"another before a revision ends":    {"c1", []message{opened("c1"), changes("", upserted(2, "a1")), changes("c3", upserted(3, "a1"))}, "revision 3 begins while revision 2 goes on", "c1 c1"},
		"parts of nothing":                  {"c1", []message{opened("c1"), changes("")}, "had not begun", "c1 c1"},
		"progress within a revision":        {"c1", []message{opened("c1"), good, changes("", upserted(3, "a1")), progress("c3")}, "progress within", "c1 c2"},
		"upserted without the task":         {"c1", []message{opened("c1"), good, changes("c3", bare)}, "without the task", "c1 c2"},
		"upserted without the graph":        {"c1", []message{opened("c1"), good, bareGraph}, "without the graph", "c1 c2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				again := call(errHang, opened("c2"), changes("c10", upserted(10, "e5")))
				if strings.HasSuffix(c.starts, "snapshot") {
					again = call(errHang, opened(""), snapshotEnd("c9"), changes("c10", upserted(10, "e5")))
				} else if strings.HasSuffix(c.starts, "now") {
					again = call(errHang, opened("c9"), changes("c10", upserted(10, "e5")))
				}
				w := &watched{calls: calls{call(errHang, c.messages...), again}}
				o := client.FollowOptions{After: c.after}
				if c.after == "now" {
					o.After, o.Now = "", true
				}
				var failures []string
				o.OnRetry = func(err error, _ time.Duration) { failures = append(failures, err.Error()) }
				for change, err := range client.Follow(t.Context(), watch(t, w), o) {
					if err != nil {
						t.Fatal(err)
					}
					if change.Revision == 10 {
						break
					}
				}
				if len(failures) != 1 || !strings.Contains(failures[0], "broke the protocol") || !strings.Contains(failures[0], c.want) {
					t.Errorf("told %q, want %q", failures, c.want)
				}
				if got := w.starts(); got != c.starts {
					t.Errorf("started %q, want %q", got, c.starts)
				}
				synctest.Wait()
				if w.ended != 2 {
					t.Errorf("%d of 2 streams ended", w.ended)
				}
			})
		})
	}
}

// Signs of life without a cursor are no violation anywhere.
func TestEmptyProgressIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errHang, opened(""), progress(""), snapshot(task("a1", 1)), unknown(""), progress(""), snapshotEnd("c1"),
			changes("", upserted(2, "a1")), progress(""), unknown("c7"), changes("c2", upserted(2, "b2")))}}
		follows(t, watch(t, w), client.FollowOptions{OnRetry: func(err error, _ time.Duration) { t.Error(err) }}, "=1@c1 +a1", "2@c2 +a1 +b2")
	})
}

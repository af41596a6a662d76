package client_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
)

// keptAt3 is the cursor of a revision 3 of a1 and b2 that came after "c1".
func keptAt3(events ...*taskpoolv1.TaskEvent) string {
	a := upserted(3, "a1")
	a.Events = events
	return client.KeptCursor("c1", client.Change{Revision: 3, Tasks: []*taskpoolv1.TaskChange{a, upserted(3, "b2")}})
}

// A cursor within a message is of a history that may be no more, though the
// server knows its own cursor.
func TestAnotherHistoryIsASnapshot(t *testing.T) {
	event := func(id, nanos int64) *taskpoolv1.TaskEvent {
		return &taskpoolv1.TaskEvent{Id: id, At: timestamppb.New(time.Unix(9, nanos))}
	}
	with := func(e *taskpoolv1.TaskEvent) *taskpoolv1.TaskChange {
		change := upserted(3, "a1")
		change.Events = []*taskpoolv1.TaskEvent{e}
		return change
	}
	for name, messages := range map[string][]message{
		"another task":                    {changes("c3", with(event(7, 5)), upserted(3, "c3"))},
		"a task less":                     {changes("c3", with(event(7, 5)))},
		"another kind":                    {changes("c3", with(event(7, 5)), deleted(3, "b2"))},
		"another event":                   {changes("c3", with(event(8, 5)), upserted(3, "b2"))},
		"another moment":                  {changes("c3", with(event(7, 6)), upserted(3, "b2"))},
		"in parts":                        {changes("", upserted(2, "a1"), with(event(7, 6))), changes("c3", upserted(3, "b2"))},
		"a later revision":                {changes("c4", upserted(2, "a1"), upserted(4, "a1"))},
		"a cursor at it":                  {by(3, progress("c3"))},
		"a cursor after changes before":   {by(5, changes("c5", upserted(2, "a1")))},
		"it stands still before":          {by(2, progress("c2")), by(2, progress("c2"))},
		"a cursor beyond, of a kind of n": {by(4, unknown("c4"))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: calls{
					call(errHang, append([]message{opened("c1")}, messages...)...),
					call(errHang, opened(""), snapshot(task("d4", 9)), snapshotEnd("d9"), changes("d10", upserted(10, "a1"))),
				}}
				var told []error
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				got, err := followed(ctx, watch(t, w), 2, client.FollowOptions{After: keptAt3(event(7, 5)), Known: []string{"a1", "b2"}, OnRetry: func(err error, _ time.Duration) {
					told = append(told, err)
				}})
				if want := "=9@d9 +d4 xa1 xb2, 10@d10 +a1"; err != nil || strings.Join(got, ", ") != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
				if len(told) != 1 || !client.IsCursorExpired(told[0]) {
					t.Errorf("told %v", told)
				}
				if got := w.starts(); got != "c1 snapshot" {
					t.Errorf("started %q", got)
				}
			})
		})
	}
}

// What is of one view only is not in the fingerprint.
func TestAKeptCursorFitsEveryTaskView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		brief := upserted(3, "a1")
		brief.Task = &taskpoolv1.Task{Id: "a1"}
		w := &watched{calls: calls{call(errHang, opened("c1"), changes("c4", brief, upserted(3, "b2"), upserted(4, "a1")))}}
		follows(t, watch(t, w), client.FollowOptions{After: keptAt3(), View: taskpoolv1.TaskView_TASK_VIEW_COMPACT}, "4@c4 +a1")
	})
}

// A revision that never ends is refused before it fills the memory.
func TestARevisionHasABound(t *testing.T) {
	part := func(from, n int) message {
		var all []*taskpoolv1.TaskChange
		for i := range n {
			all = append(all, deleted(2, fmt.Sprint("t", from+i)))
		}
		return changes("", all...)
	}
	for name, c := range map[string]struct {
		messages []message
		want     string // of the failure; "": none
	}{
		"10,000 changes":    {[]message{part(0, 5000), part(5000, 5000), changes("c2")}, ""},
		"one more":          {[]message{part(0, 5000), part(5000, 5000), part(10_000, 1)}, "more than 10000 changes"},
		"a task again":      {[]message{part(0, 3), part(1, 1)}, "revision 2 has t1 twice"},
		"within a message":  {[]message{changes("c2", upserted(2, "a1"), upserted(2, "a1"))}, "revision 2 has a1 twice"},
		"in two revisions":  {[]message{changes("", deleted(1, "t1"), deleted(2, "t1")), changes("c2")}, ""},
		"and part of a one": {[]message{changes("", deleted(2, "t1")), changes("c3", deleted(3, "t1"))}, "revision 3 begins"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: calls{call(errHang, append([]message{opened("c0")}, c.messages...)...), call(errHang, opened("c0"), changes("c2", upserted(2, "b2")))}}
				failure := ""
				for change, err := range client.Follow(t.Context(), watch(t, w), client.FollowOptions{After: "c0", OnRetry: func(err error, _ time.Duration) { failure = err.Error() }}) {
					if err != nil {
						t.Fatal(err)
					}
					if change.Revision == 2 {
						break
					}
				}
				if (failure == "") != (c.want == "") || !strings.Contains(failure, c.want) {
					t.Errorf("told %q, want %q", failure, c.want)
				}
			})
		})
	}
}

// A backup that lies between the server's cursor and the revision kept with it.
func TestLiveKeptCursorOverARestoredBackup(t *testing.T) {
	open := func(dir string) (*client.Client, func()) {
		s, err := sqlite.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		addr, stop := serveLive(t, s)
		return dial(t, addr, client.WithActor("agent:w")), stop
	}
	create := func(c *client.Client, title string) {
		t.Helper()
		if _, err := c.Create(t.Context(), &taskpoolv1.NewTask{Title: title}); err != nil {
			t.Fatal(err)
		}
	}
	dir, restored := t.TempDir(), t.TempDir()
	c, stop := open(dir)
	create(c, "kept")
	p, err := c.Pools().GetPool(t.Context(), &taskpoolv1.GetPoolRequest{})
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(restored, "copy.db")
	if err := sqlite.Backup(t.Context(), dir, backup); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		create(c, fmt.Sprint("lost ", i))
	}
	cursor, n := "", 0
	for change, err := range client.Follow(t.Context(), c, client.FollowOptions{After: p.GetPool().GetCursor()}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			cursor = change.Cursor
			break
		}
	}
	if !strings.Contains(cursor, "~") {
		t.Fatalf("kept %q, which the server knows", cursor)
	}
	stop()
	if err := os.Rename(backup, filepath.Join(restored, sqlite.DatabaseName)); err != nil {
		t.Fatal(err)
	}
	c, _ = open(restored)
	for i := range 4 {
		create(c, fmt.Sprint("anew ", i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only when it fails
	defer cancel()
	for change, err := range client.Follow(ctx, c, client.FollowOptions{After: cursor}) {
		if err != nil {
			t.Fatal(err)
		}
		titles := map[string]bool{}
		for _, x := range change.Tasks {
			titles[x.GetTask().GetTitle()] = true
		}
		if !change.Snapshot || !titles["kept"] || !titles["anew 0"] || !titles["anew 3"] || titles["lost 0"] {
			t.Errorf("came %v", change)
		}
		break
	}
}

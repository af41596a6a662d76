package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// mirror runs a mirror until the test ends.
func mirror(t *testing.T, w *watched, o client.FollowOptions) *client.Mirror {
	t.Helper()
	m := client.NewMirror(watch(t, w), o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
	return m
}

func ids(tasks []*taskpoolv1.Task) string {
	var all []string
	for _, t := range tasks {
		all = append(all, fmt.Sprintf("%s@%d", t.GetId(), t.GetRevision()))
	}
	return strings.Join(all, " ")
}

// stepped is a server that sends each message when it is told.
func stepped(steps chan message) func(watchRequest, watchStream) error {
	return func(_ watchRequest, stream watchStream) error {
		for {
			select {
			case m, ok := <-steps:
				if !ok {
					return errAway
				}
				if err := stream.Send(m); err != nil {
					return err
				}
			case <-stream.Context().Done():
				return stream.Context().Err()
			}
		}
	}
}

func TestMirror(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan message), make(chan message)
		m := mirror(t, &watched{calls: calls{stepped(first), stepped(second)}}, client.FollowOptions{})
		is := func(want, cursor string) {
			t.Helper()
			synctest.Wait()
			if got := ids(m.List(nil)); got != want || m.Cursor() != cursor || m.Len() != len(strings.Fields(want)) {
				t.Errorf("has %s at %s (%d), want %s at %s", got, m.Cursor(), m.Len(), want, cursor)
			}
			if got := ids(slices.Collect(m.All())); got != want {
				t.Errorf("goes through %s, want %s", got, want)
			}
		}
		is("", "")
		first <- opened("")
		first <- snapshot(task("c10", 4), task("a2", 3))
		is("", "")
		select {
		case <-m.Synced():
			t.Error("synced before the snapshot is whole")
		default:
		}
		first <- snapshot(task("b1", 5))
		first <- snapshotEnd("c5")
		<-m.Synced()
		is("b1@5 a2@3 c10@4", "c5")
		for name, want := range map[string]string{"a2": "a2", "T-2": "a2", "T-10": "c10", "T-3": "", "": "", "a": "", "T-": "", "2": ""} {
			got, ok := m.Get(name)
			if got.GetId() != want || ok != (want != "") {
				t.Errorf("Get(%q) = %v, %t", name, got, ok)
			}
		}
		if got := ids(m.List(func(t *taskpoolv1.Task) bool { return t.GetRevision() > 3 })); got != "b1@5 c10@4" {
			t.Errorf("listed %s", got)
		}
		first <- changes("c7", upserted(6, "d3"), upserted(6, "a2"), left(7, "b1"), deleted(7, "x9"))
		is("a2@6 d3@6 c10@4", "c7")
		first <- changes("", upserted(8, "a2"))
		is("a2@6 d3@6 c10@4", "c7") // half a revision is none
		first <- changes("c8", upserted(8, "b1"))
		is("b1@8 a2@8 d3@6 c10@4", "c8")
		first <- progress("c9")
		is("b1@8 a2@8 d3@6 c10@4", "c9")
		close(first)
		time.Sleep(time.Second)
		second <- opened("c9")
		second <- changes("c10", deleted(10, "a2"))
		is("b1@8 d3@6 c10@4", "c10")
	})
}

func TestMirrorSwapsSnapshotsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := make(chan message)
		m := mirror(t, &watched{calls: calls{
			call(errExpired(t), opened(""), snapshot(task("a1", 1), task("b2", 1)), snapshotEnd("c1")), stepped(second),
		}}, client.FollowOptions{})
		<-m.Synced()
		second <- opened("")
		second <- snapshot(task("b2", 5))
		synctest.Wait()
		if got := ids(m.List(nil)); got != "a1@1 b2@1" || m.Cursor() != "c1" {
			t.Errorf("amid the new one: %s at %s", got, m.Cursor())
		}
		second <- snapshotEnd("c5")
		synctest.Wait()
		if got := ids(m.List(nil)); got != "b2@5" || m.Cursor() != "c5" {
			t.Errorf("after: %s at %s", got, m.Cursor())
		}
	})
}

func TestMirrorTellsWhenItHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make(chan message)
		m := mirror(t, &watched{calls: calls{stepped(steps), call(errAway)}}, client.FollowOptions{Silence: time.Hour})
		if heard := m.LastHeard(); !heard.IsZero() {
			t.Errorf("heard at %v", heard)
		}
		for _, message := range []message{opened(""), snapshot(), snapshotEnd("c1"), progress("c1"), progress(""), changes("", upserted(2, "a1")), unknown("")} {
			time.Sleep(time.Minute)
			steps <- message
			synctest.Wait()
			if heard := m.LastHeard(); !heard.Equal(time.Now()) {
				t.Errorf("%v was heard at %v", message, heard)
			}
		}
		last := m.LastHeard()
		close(steps)
		time.Sleep(10 * time.Minute)
		if heard := m.LastHeard(); !heard.Equal(last) {
			t.Errorf("heard at %v, and nobody was there", heard)
		}
	})
}

func TestMirrorWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make(chan message)
		m := mirror(t, &watched{calls: calls{stepped(steps)}}, client.FollowOptions{})
		var mu sync.Mutex
		reached := map[int64]bool{}
		for _, revision := range []int64{0, 4, 5, 6, 7, 9} {
			go func() {
				if err := m.WaitFor(t.Context(), revision); err == nil {
					mu.Lock()
					defer mu.Unlock()
					reached[revision] = true
				}
			}()
		}
		are := func(want ...int64) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(reached) != len(want) {
				t.Errorf("reached %v, want %v", reached, want)
			}
			for _, r := range want {
				if !reached[r] {
					t.Errorf("reached %v, want %v", reached, want)
				}
			}
		}
		are()
		steps <- opened("")
		steps <- snapshot(task("a1", 5))
		are()
		steps <- snapshotEnd("c5")
		are(0, 4, 5)
		steps <- changes("", upserted(6, "a1"))
		are(0, 4, 5)
		steps <- changes("c8", upserted(6, "b2"), upserted(8, "b2"))
		are(0, 4, 5, 6, 7)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.WaitFor(ctx, 9); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		steps <- changes("c10", deleted(10, "b2"))
		are(0, 4, 5, 6, 7, 9)
	})
}

// Also where the view doesn't show the revision.
func TestMirrorWaitForWhatIsNotInView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make(chan message)
		m := mirror(t, &watched{calls: calls{stepped(steps)}}, client.FollowOptions{View: taskpoolv1.TaskView_TASK_VIEW_COMPACT})
		steps <- opened("")
		steps <- by(7, snapshotEnd("c7"))
		if err := m.WaitFor(t.Context(), 7); err != nil {
			t.Error(err)
		}
		waited := make(chan error, 1)
		go func() { waited <- m.WaitFor(t.Context(), 9) }()
		steps <- by(8, progress("c8"))
		synctest.Wait()
		select {
		case err := <-waited:
			t.Errorf("at revision 8: %v", err)
		default:
		}
		steps <- by(9, progress("c9"))
		if err := <-waited; err != nil {
			t.Error(err)
		}
	})
}

func TestMirrorEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := refusal(t, codes.PermissionDenied, "NOT_PERMITTED", nil)
		w := &watched{calls: calls{
			call(refused, opened(""), snapshot(task("a1", 1)), snapshotEnd("c1")),
			call(errHang, opened("")),
		}}
		m := client.NewMirror(watch(t, w), client.FollowOptions{})
		waited := make(chan error, 1)
		go func() { waited <- m.WaitFor(t.Context(), 2) }()
		if err := m.Run(t.Context()); !client.IsNotPermitted(err) {
			t.Errorf("Run: %v", err)
		}
		for _, err := range []error{<-waited, m.WaitFor(t.Context(), 2)} {
			if !client.IsNotPermitted(err) {
				t.Errorf("WaitFor: %v", err)
			}
		}
		if err := m.WaitFor(t.Context(), 1); err != nil || ids(m.List(nil)) != "a1@1" {
			t.Errorf("what was copied is there still: %v, %s", err, ids(m.List(nil)))
		}
		// And again, with a snapshot.
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		synctest.Wait()
		if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second at once: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		if got := w.starts(); got != "snapshot snapshot" {
			t.Errorf("started %q", got)
		}
	})
}

func TestMirrorWaitForHearsOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := client.NewMirror(watch(t, &watched{calls: calls{call(refusal(t, codes.NotFound, "POOL_NOT_FOUND", nil))}}), client.FollowOptions{})
		waited := make(chan error, 1)
		go func() { waited <- m.WaitFor(t.Context(), 2) }()
		synctest.Wait()
		if err := m.Run(t.Context()); !client.IsNotFound(err) {
			t.Errorf("Run: %v", err)
		}
		synctest.Wait()
		if err := <-waited; !client.IsNotFound(err) {
			t.Errorf("WaitFor: %v", err)
		}
	})
}

func TestMirrorRefusesWhatNoCopyCanMeet(t *testing.T) {
	for name, o := range map[string]client.FollowOptions{
		"After": {After: "c1"}, "Now": {Now: true}, "Known": {Known: []string{"a"}}, "ExcludeActor": {ExcludeActor: "agent:a"},
	} {
		err := client.NewMirror(nil, o).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Readers see whole revisions while everything moves: in each, a1 and b2 are of
// one revision, and c3 is there in even ones.
func TestMirrorReadersSeeWholeRevisions(t *testing.T) {
	last := int64(1000)
	w := &watched{calls: calls{func(r watchRequest, stream watchStream) error {
		after := int64(0)
		if r.GetAfterCursor() == "" {
			for _, m := range []message{opened(""), snapshot(task("a1", 0), task("b2", 0)), snapshot(task("c3", 0)), snapshotEnd("c0")} {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
		} else {
			_, _ = fmt.Sscanf(r.GetAfterCursor(), "c%d", &after)
			if err := stream.Send(opened(r.GetAfterCursor())); err != nil {
				return err
			}
		}
		for n := after + 1; n <= last; n++ {
			third := left(n, "c3")
			if n%2 == 0 {
				third = upserted(n, "c3")
			}
			_ = stream.Send(changes("", upserted(n, "a1")))
			_ = stream.Send(changes(cursorOf(n), upserted(n, "b2"), third))
			if n%300 == 0 {
				return errAway
			}
		}
		return call(errHang)(r, stream)
	}}}
	m := mirror(t, w, client.FollowOptions{})
	<-m.Synced()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for at := int64(-1); at < last; {
				if err := m.WaitFor(t.Context(), at+1); err != nil {
					t.Error(err)
					return
				}
				all := m.List(nil)
				now := all[0].GetRevision()
				if now < at || all[1].GetRevision() != now || (len(all) == 3) != (now%2 == 0) {
					t.Errorf("after %d: %s", at, ids(all))
					return
				}
				at = now
				for task := range m.All() { // the mirror can be asked meanwhile
					if got, ok := m.Get(task.GetKey()); ok && got.GetRevision() < task.GetRevision() {
						t.Errorf("went back to %v", got)
					}
				}
			}
		})
	}
	readers.Wait()
}

func TestMirrorKeepsItsFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errHang, opened(""), snapshotEnd("c1"))}}
		filter := &taskpoolv1.TaskFilter{Assignee: "me"}
		m := client.NewMirror(watch(t, w), client.FollowOptions{Filter: filter})
		filter.Assignee = "you" // the caller's own again
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		<-m.Synced()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
		if got := w.requests[0].GetFilter().GetAssignee(); got != "me" {
			t.Errorf("asked for the tasks of %q", got)
		}
	})
}

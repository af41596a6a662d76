package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

type calls = []func(watchRequest, watchStream) error

func errExpired(t *testing.T) error {
	return refusal(t, codes.OutOfRange, "CURSOR_EXPIRED", map[string]string{"oldest": "o", "head": "h"})
}

func TestFollow(t *testing.T) {
	gone := errExpired(t)
	filter := &taskpoolv1.TaskFilter{}
	kept := keptAt3()
	for name, c := range map[string]struct {
		options client.FollowOptions
		calls   calls
		want    []string
		starts  string
	}{
		"a snapshot is one change, whole": {
			calls: calls{call(errHang, opened(""), snapshot(task("a1", 3), task("b2", 5)), snapshot(), snapshot(task("c3", 2)), snapshotEnd("c5"))},
			want:  []string{"=5@c5 +a1 +b2 +c3"}, starts: "snapshot",
		},
		"an empty pool has a snapshot too": {
			calls: calls{call(errHang, opened(""), snapshotEnd("c0"))},
			want:  []string{"=0@c0"}, starts: "snapshot",
		},
		"a cursor within a snapshot is no position": {
			calls: calls{
				call(errAway, opened("c1"), unknown("c2"), snapshot(task("a1", 1))),
				call(errHang, opened(""), snapshot(task("b2", 1)), snapshotEnd("c5")),
			},
			want: []string{"=1@c5 +b2"}, starts: "snapshot snapshot",
		},
		"each revision is a change, and every one has a cursor": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{call(errHang, opened("c1"),
				changes("c4", upserted(2, "a1"), upserted(2, "b2"), left(3, "a1"), deleted(4, "b2")), changes("c5", upserted(5, "a1")))},
			want: []string{"2@c1~2 +a1 +b2", "3@c1~3 -a1", "4@c4 xb2", "5@c5 +a1"}, starts: "c1",
		},
		"a revision in parts is delivered whole": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{call(errHang, opened("c1"),
				changes("", upserted(2, "a1"), upserted(3, "a1")), changes("", upserted(3, "b2")), changes("c4", upserted(3, "c3"), upserted(4, "a1")))},
			want: []string{"2@c1~2 +a1", "3@c1~3 +a1 +b2 +c3", "4@c4 +a1"}, starts: "c1",
		},
		"the last part may be empty": {
			options: client.FollowOptions{After: "c1"},
			calls:   calls{call(errHang, opened("c1"), changes("", upserted(2, "a1")), changes("c2"))},
			want:    []string{"2@c2 +a1"}, starts: "c1",
		},
		"graphs come with the tasks of their revision": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{call(errHang, opened("c1"), &taskpoolv1.WatchTasksResponse{
				Cursor: "c4", Message: &taskpoolv1.WatchTasksResponse_Changes{Changes: &taskpoolv1.WatchChanges{
					Changes: []*taskpoolv1.TaskChange{upserted(3, "a1")},
					Graphs:  []*taskpoolv1.GraphChange{graphChange(2, "tg-1"), graphChange(3, "tg-1"), graphChange(4, "tg-2")},
				}},
			})},
			want: []string{"2@c1~2 +tg-1", "3@c1~3 +a1 +tg-1", "4@c4 +tg-2"}, starts: "c1",
		},
		"from now": {
			options: client.FollowOptions{Now: true},
			calls:   calls{call(errAway, opened("c7")), call(errHang, opened("c7"), changes("c8", upserted(8, "a1")))},
			want:    []string{"8@c8 +a1"}, starts: "now c7",
		},
		"from now, before that was known": {
			options: client.FollowOptions{Now: true},
			calls:   calls{call(errAway), call(errHang, opened("c7"), changes("c8", upserted(8, "a1")))},
			want:    []string{"8@c8 +a1"}, starts: "now now",
		},
		"progress on request": {
			options: client.FollowOptions{Now: true, Progress: true},
			calls: calls{call(errHang, opened("c7"), progress("c7"), changes("c8", upserted(8, "a1")), progress("c9"),
				progress(""), unknown("c10"), unknown(""), progress("c11"))},
			want: []string{"0@c7", "0@c7", "8@c8 +a1", "8@c9", "8@c10", "8@c11"}, starts: "now",
		},
		"progress and unknown kinds move the position": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{
				call(errAway, opened("c1"), progress("c2")),
				call(errAway, opened("c2"), unknown("c3")),
				call(errHang, opened("c3"), changes("c4", upserted(4, "a1"))),
			},
			want: []string{"4@c4 +a1"}, starts: "c1 c2 c3",
		},
		"the cursor in opened is not taken for the own one": {
			options: client.FollowOptions{After: "c1"},
			calls:   calls{call(errAway, opened("c9")), call(errHang, opened("c1"), changes("c2", upserted(2, "a1")))},
			want:    []string{"2@c2 +a1"}, starts: "c1 c1",
		},
		"cut within parts: resumed before them": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{
				call(errAway, opened("c1"), changes("c2", upserted(2, "a1")), changes("", upserted(3, "a1"), upserted(4, "a1"))),
				call(errHang, opened("c2"), changes("", upserted(3, "a1"), upserted(4, "a1")), changes("c4", upserted(4, "b2"))),
			},
			want: []string{"2@c2 +a1", "3@c2~3 +a1", "4@c4 +a1 +b2"}, starts: "c1 c2",
		},
		"after a cursor in the middle of a message": {
			options: client.FollowOptions{After: kept, Progress: true},
			calls: calls{
				call(errAway, opened("c1"), changes("c2", upserted(2, "a1")), progress("c2b")),
				call(errHang, opened("c2"), changes("", upserted(3, "a1")), changes("c4", upserted(3, "b2"), upserted(4, "a1")), progress("c4")),
			},
			want: []string{"3@c2~3", "3@c2b~3", "4@c4 +a1", "4@c4"}, starts: "c1 c2b",
		},
		"what the server sends twice is no change": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{
				call(errHang, opened("c1"), changes("c2", upserted(2, "a1")), changes("c2", upserted(2, "a1"))),
				call(errHang, opened("c2"), changes("c2", upserted(2, "a1"))),
				call(errHang, opened("c2"), changes("c3", upserted(3, "b2"))),
			},
			want: []string{"2@c2 +a1", "3@c3 +b2"}, starts: "c1 c2 c2",
		},
		"the revision by then is told where nothing shows it": {
			options: client.FollowOptions{Progress: true},
			calls: calls{call(errHang, by(0, opened("")), snapshot(task("a1", 3)), by(7, snapshotEnd("c7")), by(9, progress("c9")),
				by(12, changes("c12", upserted(10, "a1"), upserted(11, "a1"))), by(13, unknown("c13")))},
			want: []string{"=7@c7 +a1", "9@c9", "10@c9~10 +a1", "11@c12 +a1", "13@c13"}, starts: "snapshot",
		},
		"from now is from a revision": {
			options: client.FollowOptions{Now: true, Progress: true},
			calls:   calls{call(errHang, by(7, opened("c7")))},
			want:    []string{"7@c7"}, starts: "now",
		},
		"once the cursor is beyond what was delivered it stands alone": {
			options: client.FollowOptions{After: kept, Progress: true},
			calls:   calls{call(errHang, opened("c1"), by(2, progress("c2")), changes("c3", upserted(3, "b2"), upserted(3, "a1")), by(5, progress("c5")))},
			want:    []string{"3@c2~3", "3@c3", "5@c5"}, starts: "c1",
		},
		"expired: a snapshot, and what it lacks has gone": {
			calls: calls{
				call(errAway, opened(""), snapshot(task("d4", 1), task("a1", 1), task("b2", 1)), snapshotEnd("c1")),
				call(errAway, opened("c1"), changes("c3", upserted(2, "c3"), deleted(3, "b2"))),
				call(gone),
				call(errHang, opened(""), snapshot(task("b2", 9), task("e5", 8)), snapshotEnd("c9"), changes("c10", upserted(10, "a1"))),
			},
			want:   []string{"=1@c1 +d4 +a1 +b2", "2@c1~2 +c3", "3@c3 xb2", "=9@c9 +b2 +e5 xa1 xc3 xd4", "10@c10 +a1"},
			starts: "snapshot c1 c3 snapshot",
		},
		"expired, with a filter: it has left the view": {
			options: client.FollowOptions{After: "c1", Known: []string{"a1", "b2", "tg-1"}, Filter: filter},
			calls:   calls{call(gone), call(errHang, opened(""), snapshot(task("a1", 4)), snapshotEnd("c4"))},
			want:    []string{"=4@c4 +a1 -b2 xtg-1"}, starts: "c1 snapshot",
		},
		"expired in the midst of changes": {
			options: client.FollowOptions{After: "c1"},
			calls: calls{
				call(gone, opened("c1"), changes("c2", upserted(2, "a1")), changes("", upserted(3, "b2"))),
				call(errHang, opened(""), snapshotEnd("c4")),
			},
			want: []string{"2@c2 +a1", "=0@c4 xa1"}, starts: "c1 snapshot",
		},
		"expired in the midst of a snapshot": {
			options: client.FollowOptions{Known: []string{"a1"}},
			calls: calls{
				call(gone, opened(""), snapshot(task("b2", 1))),
				call(gone, opened("")),
				call(errHang, opened(""), snapshot(task("c3", 1)), snapshotEnd("c4")),
			},
			want: []string{"=1@c4 +c3 xa1"}, starts: "snapshot snapshot snapshot",
		},
		"expired though it was to begin now": {
			options: client.FollowOptions{Now: true},
			calls:   calls{call(gone, opened("c1"), changes("c2", upserted(2, "a1"))), call(errHang, opened(""), snapshotEnd("c4"))},
			want:    []string{"2@c2 +a1", "=0@c4 xa1"}, starts: "now snapshot",
		},
		"out of range for a reason of tomorrow": {
			options: client.FollowOptions{After: "c1"},
			calls:   calls{call(status.Error(codes.OutOfRange, "x")), call(errHang, opened(""), snapshotEnd("c4"))},
			want:    []string{"=0@c4"}, starts: "c1 snapshot",
		},
		"a cleared pool counts anew": {
			calls: calls{
				call(errAway, opened(""), snapshot(task("a1", 70)), snapshotEnd("c70")),
				call(gone),
				call(errHang, opened(""), snapshotEnd("d0"), changes("d1", upserted(1, "b2"))),
			},
			want: []string{"=70@c70 +a1", "=0@d0 xa1", "1@d1 +b2"}, starts: "snapshot c70 snapshot",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: c.calls}
				follows(t, watch(t, w), c.options, c.want...)
				if got := w.starts(); got != c.starts {
					t.Errorf("started %q, want %q", got, c.starts)
				}
			})
		})
	}
}

func graphChange(revision int64, id string) *taskpoolv1.GraphChange {
	return &taskpoolv1.GraphChange{Revision: revision, GraphId: id, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Graph: &taskpoolv1.Graph{Id: id, Revision: revision}}
}

func TestFollowAsksForWhatItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errAway), call(errHang, opened(""), snapshotEnd("c1"))}}
		filter := &taskpoolv1.TaskFilter{Assignee: "me"}
		seq := client.Follow(t.Context(), watch(t, w, client.WithPool("web")), client.FollowOptions{
			Filter: filter, ExcludeActor: "agent:a", View: taskpoolv1.TaskView_TASK_VIEW_COMPACT,
		})
		filter.Assignee = "you" // the caller's own again
		for _, err := range seq {
			if err != nil {
				t.Error(err)
			}
			break
		}
		want := &taskpoolv1.WatchTasksRequest{
			Pool: "web", Filter: &taskpoolv1.TaskFilter{Assignee: "me"}, ExcludeActor: "agent:a", View: taskpoolv1.TaskView_TASK_VIEW_COMPACT,
			Start: &taskpoolv1.WatchTasksRequest_Snapshot{Snapshot: &taskpoolv1.WatchFromSnapshot{}},
		}
		if len(w.requests) != 2 {
			t.Fatalf("%d requests, want 2", len(w.requests))
		}
		for _, r := range w.requests {
			if !proto.Equal(r, want) {
				t.Errorf("asked for %v", r)
			}
		}
	})
}

func TestFollowRefusesWhatCannotBeMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errAway)}}
		c := watch(t, w)
		for name, o := range map[string]client.FollowOptions{
			"two beginnings": {After: "c1", Now: true},
			"no UTF-8":       {Pool: "a\xff"},
		} {
			if lines, err := followed(t.Context(), c, 1, o); err == nil || len(lines) > 0 {
				t.Errorf("%s: %v, %v", name, lines, err)
			}
		}
		if got := w.starts(); got != "" {
			t.Errorf("asked %q", got)
		}
	})
}

func TestFollowBeginsAnewWithEachRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errHang, opened(""), snapshot(task("a1", 1)), snapshotEnd("c1"))}}
		seq := client.Follow(t.Context(), watch(t, w), client.FollowOptions{})
		for range 2 {
			for change, err := range seq {
				if err != nil || told(change) != "=1@c1 +a1" {
					t.Errorf("%s, %v", told(change), err)
				}
				break
			}
		}
	})
}

// A caller that keeps the cursor with what it has done loses nothing and does
// nothing twice, wherever it stops.
func TestEveryCursorResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{revisions: 40}
		c := watch(t, &watched{calls: calls{f.serve}})
		whole, err := followed(t.Context(), c, f.changes(), client.FollowOptions{After: "c0"})
		if err != nil {
			t.Fatal(err)
		}
		cursor := "c0"
		for i := range whole {
			f.batch, f.part = 1+i%5, 1+i%3 // another day, other messages
			o, n := client.FollowOptions{After: cursor}, 0
			for change, err := range client.Follow(t.Context(), c, o) {
				if err != nil {
					t.Fatal(err)
				}
				if got, want := content(told(change)), content(whole[i+n]); got != want {
					t.Fatalf("after %d changes (%s) came %s, want %s", i, cursor, got, want)
				}
				if n == 0 {
					cursor = change.Cursor
				}
				if n++; i+n == len(whole) {
					break
				}
			}
		}
	})
}

func TestOnlyPassingErrorsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
			w := &watched{calls: calls{call(status.Error(code, "no")), call(errHang, opened(""), snapshotEnd("c1"))}}
			var retried []error
			lines, err := followed(t.Context(), watch(t, w), 1, client.FollowOptions{
				OnRetry: func(err error, _ time.Duration) { retried = append(retried, err) },
			})
			switch code {
			case codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
				if status.Code(err) != code || len(lines) > 0 || len(retried) > 0 {
					t.Errorf("%v: %v, %v, retried %v", code, lines, err, retried)
				}
			default:
				if err != nil || len(lines) != 1 || len(retried) != 1 || status.Code(retried[0]) != code {
					t.Errorf("%v: %v, %v, retried %v", code, lines, err, retried)
				}
			}
		}
	})
}

func TestFollowEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := client.Dial("passthrough:///nowhere")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		lines, err := followed(t.Context(), c, 1, client.FollowOptions{})
		if status.Code(err) != codes.Canceled || len(lines) > 0 {
			t.Errorf("%v, %v", lines, err)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/taskpool-dev/taskpool/client"
)

// states are what a follower can be at while it waits.
func states(t *testing.T) map[string]calls {
	return map[string]calls{
		"not answered":      {call(errHang)},
		"open":              {call(errHang, opened(""))},
		"within a snapshot": {call(errHang, opened(""), snapshot(task("a1", 1)))},
		"idle":              {call(errHang, opened(""), snapshotEnd("c1"))},
		"within a revision": {call(errHang, opened(""), snapshotEnd("c1"), changes("", upserted(2, "a1")))},
		"waiting to retry":  {call(errAway)},
		"told to wait":      {call(refusal(t, codes.ResourceExhausted, "QUEUE_FULL", nil, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Hour)}))},
	}
}

func TestTheContextEndsItAtOnce(t *testing.T) {
	for name, calls := range states(t) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: calls}
				c := watch(t, w)
				for _, end := range []struct {
					err error
					of  func(context.Context, time.Duration) (context.Context, context.CancelFunc)
				}{{context.DeadlineExceeded, context.WithTimeout}, {context.Canceled, cancelledAfter}} {
					ctx, cancel := end.of(t.Context(), 10*time.Second)
					begun := time.Now()
					var last error
					for _, err := range client.Follow(ctx, c, client.FollowOptions{}) {
						if last != nil {
							t.Error("something came after the error")
						}
						last = err
					}
					if took := time.Since(begun); !errors.Is(last, end.err) || took != 10*time.Second {
						t.Errorf("ended after %v with %v", took, last)
					}
					cancel()
				}
				synctest.Wait()
				if len(w.requests) != w.ended {
					t.Errorf("%d of %d streams ended", w.ended, len(w.requests))
				}
			})
		})
	}
}

func cancelledAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(d, cancel)
	return ctx, cancel
}

func TestAContextThatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := &watched{calls: calls{call(errHang, opened("c1"), changes("c3", upserted(2, "a1"), upserted(3, "a1")))}}
		c := watch(t, w)
		var got []string
		for change, err := range client.Follow(ctx, c, client.FollowOptions{After: "c1"}) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, told(change))
			cancel() // the rest of the message is not delivered, nor lost: the cursor says so
		}
		if !slices.Equal(got, []string{"2@c1~2 +a1", "context canceled"}) {
			t.Errorf("got %q", got)
		}
		if lines, err := followed(ctx, c, 1, client.FollowOptions{}); !errors.Is(err, context.Canceled) || len(lines) > 0 {
			t.Errorf("from the start: %v, %v", lines, err)
		}
	})
}

// Whoever leaves the loop leaves nothing behind.
func TestLeavingFreesTheStream(t *testing.T) {
	for name, c := range map[string]calls{
		"at a snapshot":      {call(errHang, opened(""), snapshot(task("a1", 1)), snapshotEnd("c1"), changes("c2", upserted(2, "a1")))},
		"at a change":        {call(errHang, opened(""), changes("c2", upserted(2, "a1")), progress("c2"))},
		"amid a message":     {call(errHang, opened(""), changes("c3", upserted(2, "a1"), upserted(3, "a1")))},
		"before a part":      {call(errHang, opened(""), changes("", upserted(2, "a1"), upserted(3, "a1")), changes("c3", upserted(3, "b2")))},
		"while more waits":   {flood},
		"with the last word": {call(errAway, opened(""), changes("c2", upserted(2, "a1")))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: c}
				o := client.FollowOptions{After: "c1"}
				if name == "at a snapshot" {
					o.After = ""
				}
				if lines, err := followed(t.Context(), watch(t, w), 1, o); err != nil || len(lines) != 1 {
					t.Errorf("%v, %v", lines, err)
				}
				synctest.Wait()
				if w.ended != 1 || len(w.requests) != 1 {
					t.Errorf("%d of %d streams ended", w.ended, len(w.requests))
				}
			})
		})
	}
}

// flood sends until nobody wants more.
func flood(_ watchRequest, stream watchStream) error {
	if err := stream.Send(opened("c1")); err != nil {
		return err
	}
	for r := int64(2); ; r++ {
		change := upserted(r, "a1")
		change.Task.Body = strings.Repeat("x", 1<<16)
		if err := stream.Send(changes(cursorOf(r), change)); err != nil {
			return err
		}
	}
}

func TestAnErrorInTheLoopIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{call(errHang, opened(""), snapshotEnd("c1"))}}
		c := watch(t, w)
		func() {
			defer func() { _ = recover() }()
			for _, err := range client.Follow(t.Context(), c, client.FollowOptions{}) {
				panic(err)
			}
		}()
		synctest.Wait()
		if w.ended != 1 {
			t.Error("the stream is still there")
		}
	})
}

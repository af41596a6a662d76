package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
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

// Wherever the connection is cut, what comes is what came without.
func TestFollowThroughCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{revisions: 40}
		uncut, err := followed(t.Context(), watch(t, &watched{calls: calls{f.serve}}), 1+16, client.FollowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		same := func(name string, f *feed) {
			t.Helper()
			w := &watched{calls: calls{f.serve}}
			got, err := followed(t.Context(), watch(t, w), len(uncut), client.FollowOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for i := range got {
				if content(got[i]) != content(uncut[i]) {
					t.Fatalf("%s: change %d is %s, want %s; streams started %s", name, i, got[i], uncut[i], w.starts())
				}
			}
		}
		total := len((&feed{revisions: 40}).present())
		for at := range total {
			same("cut once", &feed{revisions: 40, cut: func(stream int) int {
				if stream == 0 {
					return at
				}
				return total
			}})
		}
		for round := range 50 {
			chance := rand.New(rand.NewPCG(1, uint64(round)))
			f := &feed{revisions: 40}
			f.cut = func(int) int {
				f.batch, f.part = 1+chance.IntN(6), 1+chance.IntN(4)
				return chance.IntN(16)
			}
			same("cut again and again", f)
		}
	})
}

// A server that does no more than open is connected to ever more seldom.
func TestConnectingIsNoProgress(t *testing.T) {
	for name, each := range map[string]func(watchRequest, watchStream) error{
		"refused":              call(errAway),
		"opened and closed":    call(errAway, opened("c1")),
		"ended with OK":        call(nil, opened("c1")),
		"nothing new":          call(errAway, opened("c1"), progress("c1"), unknown("c1")),
		"a part without end":   call(errAway, opened("c1"), changes("", upserted(2, "a1"))),
		"internal":             call(refusal(t, codes.Internal, "INTERNAL", nil)),
		"breaks the protocol":  call(errHang, opened("c1"), opened("c1")),
		"an unknown beginning": call(errAway, unknown("c7")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: calls{each}}
				c := watch(t, w)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var told int
				lines, err := followed(ctx, c, 1, client.FollowOptions{After: "c1", OnRetry: func(err error, wait time.Duration) {
					if told++; err == nil || wait < 0 || wait > client.DefaultMaxBackoff {
						t.Errorf("waits %v for %v", wait, err)
					}
				}})
				if !errors.Is(err, context.DeadlineExceeded) || len(lines) > 0 {
					t.Errorf("%v, %v", lines, err)
				}
				// 15 s on average, once it has grown: 240 in an hour.
				if n := len(w.pauses()); n < 150 || n > 400 || told < n {
					t.Errorf("connected %d times in an hour, told of %d failures", n, told)
				}
			})
		})
	}
}

// gRPC's own back-off, of up to two minutes, does not add to Follow's.
func TestAServerThatWasAwayForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(time.Hour)
		w := &watched{calls: calls{call(errHang, opened(""), snapshotEnd("c1"))}}
		c := watchIf(t, w, func() bool { return !time.Now().Before(back) })
		follows(t, c, client.FollowOptions{MaxBackoff: time.Second, OnRetry: func(err error, _ time.Duration) {
			if !client.IsUnavailable(err) {
				t.Error(err)
			}
		}}, "=0@c1")
		if late := w.at[0].Sub(back); late > 2*time.Second {
			t.Errorf("found it %v after it was back", late)
		}
	})
}

func TestProgressBeginsTheBackoffAnew(t *testing.T) {
	working := []message{opened("c1"), changes("c2", upserted(2, "a1"))}
	idle := func(r watchRequest, stream watchStream) error {
		if err := stream.Send(opened("c1")); err != nil {
			return err
		}
		for range 4 { // alive for long, though nothing happens
			time.Sleep(15 * time.Second)
			if err := stream.Send(progress("c1")); err != nil {
				return err
			}
		}
		return errAway
	}
	for name, c := range map[string]struct {
		good   func(watchRequest, watchStream) error
		resets bool
	}{
		"a change":    {call(errAway, working...), true},
		"moved on":    {call(errAway, opened("c1"), progress("c2")), true},
		"a snapshot":  {call(errAway, opened(""), snapshotEnd("c1")), true},
		"idle for 1m": {idle, true},
		"half":        {call(errAway, opened(""), snapshot(task("a1", 1))), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := calls{}
				for range 12 {
					all = append(all, call(errAway))
				}
				all = append(all, c.good, call(errAway), call(errAway), call(errAway), call(errHang))
				o := client.FollowOptions{After: "c1"}
				if strings.Contains(name, "snapshot") || name == "half" {
					o.After = ""
				}
				var waits []time.Duration
				o.OnRetry = func(_ error, wait time.Duration) { waits = append(waits, wait) }
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
				defer cancel()
				o.Silence = time.Hour
				_, _ = followed(ctx, watch(t, &watched{calls: all}), 0, o)
				if len(waits) != 16 {
					t.Fatalf("waited %v", waits)
				}
				if longest := slices.Max(waits[:12]); longest < time.Second {
					t.Errorf("grew to %v only", longest)
				}
				// Begun anew: at most 100, 200, 400 and 800 ms.
				after := waits[12] + waits[13] + waits[14] + waits[15]
				if resets := after <= 15*client.DefaultMinBackoff; resets != c.resets {
					t.Errorf("waited %v after it, reset %t", waits[12:], resets)
				}
			})
		})
	}
}

func TestTheServersDelayIsHeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := refusal(t, codes.ResourceExhausted, "WATCHERS_EXCEEDED", nil, &errdetails.RetryInfo{RetryDelay: durationpb.New(90 * time.Second)})
		w := &watched{calls: calls{call(busy), call(errHang, opened(""), snapshotEnd("c1"))}}
		var told time.Duration
		follows(t, watch(t, w), client.FollowOptions{OnRetry: func(err error, wait time.Duration) {
			if told = wait; client.Reason(err) != "WATCHERS_EXCEEDED" {
				t.Errorf("told %v", err)
			}
		}}, "=0@c1")
		if p := w.pauses()[0]; p < 90*time.Second || p > 91*time.Second || p != told {
			t.Errorf("waited %v, told %v", p, told)
		}
	})
}

func TestSilenceIsAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		call func(watchRequest, watchStream) error
		want string
	}{
		"never opened":   {call(errHang), "c1 c1"},
		"then nothing":   {call(errHang, opened("c1")), "c1 c1"},
		"after a change": {call(errHang, opened("c1"), changes("c2", upserted(2, "a1"))), "c1 c2"},
		"within parts":   {call(errHang, opened("c1"), changes("", upserted(2, "a1"))), "c1 c1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watched{calls: calls{c.call, call(errHang, opened("c2"), changes("c3", upserted(3, "b2")))}}
				var failure error
				begun := time.Now()
				for change, err := range client.Follow(t.Context(), watch(t, w), client.FollowOptions{After: "c1", OnRetry: func(err error, _ time.Duration) { failure = err }}) {
					if err != nil {
						t.Fatal(err)
					}
					if change.Revision == 3 {
						break
					}
				}
				if failure == nil || !strings.Contains(failure.Error(), "no message within 1m0s") {
					t.Errorf("told %v", failure)
				}
				if took := time.Since(begun); took < client.DefaultSilence || took > client.DefaultSilence+time.Second {
					t.Errorf("noticed after %v", took)
				}
				if w.starts() != c.want {
					t.Errorf("started %q, want %q", w.starts(), c.want)
				}
			})
		})
	}
}

// A caller that takes its time is no silence of the server's, and signs of life
// keep a quiet watch.
func TestNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{calls: calls{func(_ watchRequest, stream watchStream) error {
			_ = stream.Send(opened("c1"))
			_ = stream.Send(changes("c3", upserted(2, "a1"), upserted(3, "a1")))
			for range 100 {
				time.Sleep(59 * time.Second)
				_ = stream.Send(progress("c3"))
			}
			_ = stream.Send(changes("c4", upserted(4, "a1")))
			<-stream.Context().Done()
			return nil
		}}}
		var revisions []int64
		for change, err := range client.Follow(t.Context(), watch(t, w), client.FollowOptions{After: "c1", OnRetry: func(err error, _ time.Duration) { t.Error(err) }}) {
			if err != nil {
				t.Fatal(err)
			}
			if revisions = append(revisions, change.Revision); change.Revision == 4 {
				break
			}
			time.Sleep(time.Hour)
		}
		if !slices.Equal(revisions, []int64{2, 3, 4}) || w.starts() != "c1" {
			t.Errorf("%v, started %q", revisions, w.starts())
		}
	})
}

func TestOpenIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := refusal(t, codes.Unavailable, "DRAINING", nil)
		w := &watched{calls: calls{
			call(errAway), call(drain, opened(""), snapshotEnd("c1"), progress("c2")), call(errAway), call(errHang, opened("c2"), changes("c3", upserted(3, "a1"))),
		}}
		var told []string
		follows(t, watch(t, w), client.FollowOptions{
			OnOpen:  func() { told = append(told, "open") },
			OnRetry: func(err error, _ time.Duration) { told = append(told, "lost"+client.Reason(err)) },
		}, "=0@c1", "3@c3 +a1")
		if got := strings.Join(told, " "); got != "lost open lostDRAINING lost open" || w.starts() != "snapshot snapshot c2 c2" {
			t.Errorf("told %q, started %q", got, w.starts())
		}
	})
}

package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

const watchHelp = `Show the tasks that are not closed, or those that flags select, then a line for
each change as it happens, until it is interrupted. When the server restarts or
the connection breaks, it goes on by itself and misses nothing; standard error
tells.

With --json each line is a JSON object: a TaskChange of the API, such as
  {"cursor":"AQ…","snapshot":false,"revision":"12","task_id":"5a1f…",
   "kind":"CHANGE_KIND_UPSERTED","task":{…},"events":[…]}
What changed at once is on lines below each other, and the last of them has the
cursor, the others an empty one. --after with the last cursor that was not empty
goes on there. Lines that only move the cursor on have no "kind".`

func (a *app) watchCommand() *cobra.Command {
	var (
		filter filterFlags
		view   wordFlag[taskpoolv1.TaskView]
		o      client.FollowOptions
		notMe  bool
	)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Show what there is, then every change as it happens",
		Long:  watchHelp,
		Args:  noArgs,
	}
	cmd.RunE = a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if err := errors.Join(either(cmd, "after", "now"), either(cmd, "exclude-actor", "exclude-me")); err != nil {
			return err
		}
		selected, err := filter.selected(cmd)
		if err != nil {
			return err
		}
		if proto.Size(selected) > 0 { // without a condition a task that is closed stays in view
			o.Filter = selected
		}
		if notMe {
			o.ExcludeActor = "me"
		}
		o.View = view.value
		return a.watch(ctx, o)
	})
	filter.register(a, cmd)
	f := cmd.Flags()
	f.BoolVar(&o.Now, "now", false, "without what there is: only what happens from now on")
	f.StringVar(&o.After, "after", "", "go on after this `cursor` of an earlier --json")
	f.StringVar(&o.ExcludeActor, "exclude-actor", "", "without what this `member` does")
	f.BoolVar(&notMe, "exclude-me", false, "without what --actor does")
	f.Var(&view, "view", "how much of each task, with --json: preview, full or compact")
	offer(cmd, "view", fixed(words.All[taskpoolv1.TaskView]()...))
	return cmd
}

// errNobodyThere: no server has taken the watch in time.
var errNobodyThere = errors.New("no server has taken the watch in time")

// watch follows and shows until ctx ends, which is its usual end, or until
// nobody reads what it writes.
func (a *app) watch(ctx context.Context, o client.FollowOptions) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	following, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	l := &link{app: a}
	if a.global.timeout > 0 {
		l.patience = time.AfterFunc(a.global.timeout, func() { giveUp(errNobodyThere) })
		defer l.patience.Stop()
	}
	o.OnRetry, o.OnOpen = l.retries, l.opened
	show := (&lines{app: a}).show
	if a.global.json {
		o.Progress = true
	} else {
		l.quiet = o.Now || o.After != ""
		o.View = taskpoolv1.TaskView_TASK_VIEW_PREVIEW
		show = newLive(ctx, a, c, o.Filter != nil).show
	}
	for change, err := range client.Follow(following, c, o) {
		switch {
		case err == nil:
			if err := show(change); err != nil {
				return unread(err)
			}
		case ctx.Err() != nil:
			return nil
		case errors.Is(context.Cause(following), errNobodyThere):
			return l.gaveUp()
		default:
			return a.unanswered(err)
		}
	}
	return nil
}

// unread is an error of writing, nil where nobody wants to read any more.
func unread(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// link tells people, once each, that the connection is lost and that it is back.
type link struct {
	app *app
	// patience runs out where no server takes the watch; nil: never.
	patience *time.Timer
	// quiet: nothing is shown until something happens.
	quiet bool
	// ever: it was open once. lost: it is not, and that was told.
	ever, lost bool
	failure    error
}

func (l *link) retries(err error, _ time.Duration) {
	l.failure = err
	addr := l.app.global.addr
	switch {
	case client.IsCursorExpired(err):
		note(l.app.err, "the history since then is gone; going on with how things stand now")
	case l.lost:
	case l.ever:
		l.lost = true
		note(l.app.err, "lost the connection to %s (%s); trying again until it is back", addr, whyLost(err))
	default:
		l.lost = true
		note(l.app.err, "no connection to %s yet (%s); trying again", addr, whyLost(err))
	}
}

func (l *link) opened() {
	if l.patience != nil {
		l.patience.Stop()
	}
	switch {
	case l.lost && l.ever:
		note(l.app.err, "connected to %s again", l.app.global.addr)
	case l.lost:
		note(l.app.err, "connected to %s", l.app.global.addr)
	case !l.ever && l.quiet && l.app.screen.Width > 0:
		note(l.app.err, "watching: what happens from now on is shown here, until Ctrl-C")
	}
	l.ever, l.lost = true, false
}

// gaveUp is the error of a watch that no server took.
func (l *link) gaveUp() error {
	if l.failure == nil {
		l.failure = status.Error(codes.DeadlineExceeded, "no answer")
	}
	return l.app.unanswered(l.failure)
}

// whyLost is why, in a few words.
func whyLost(err error) string {
	s := statusOf(err)
	if s == nil {
		return err.Error()
	}
	if strings.HasPrefix(s.Message(), "error reading from server") {
		return "it broke off"
	}
	why, _, _ := strings.Cut(reach(s.Message()), ";") // what to do then is done
	return why
}

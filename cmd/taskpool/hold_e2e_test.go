package main

import (
	"regexp"
	"strings"
	"testing"
)

var holdToken = regexp.MustCompile(`(?m)^hold token: (\S+)$`)

// A hold outlives the server, its token proves it, and what is released is there for
// others.
func TestClaimOutlivesAKill(t *testing.T) {
	data := t.TempDir()
	p := start(t, data)
	p.taskpool(t, "task", "create", "--title", "Write the schema")
	claimed := p.taskpool(t, "claim", "T-1", "--lease", "10m", "--actor", "agent:a")
	token := holdToken.FindStringSubmatch(claimed)
	if token == nil || !strings.HasPrefix(claimed, "claimed T-1 (") || !strings.Contains(claimed, "\nruns out: 20") {
		t.Fatalf("claimed:\n%s", claimed)
	}
	p.kill(t)
	p = start(t, data)
	addr := []string{"--addr", p.grpc}
	refused := func(want string, args ...string) {
		t.Helper()
		if r := invoke(t, "", append(args, addr...)...); r.code != exitRefused || !strings.Contains(r.err, want) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	refused("T-1 is held by agent:a since", "claim", "T-1", "--actor", "agent:b")
	refused("only who carries the hold_token", "task", "update", "T-1", "--note", "half", "--actor", "agent:a")
	refused("this hold of T-1 is over; agent:a holds it", "renew", "T-1", "--hold-token", "another", "--actor", "agent:a")
	if out := p.taskpool(t, "renew", "T-1", "--hold-token", token[1], "--lease", "1h", "--actor", "agent:a"); !strings.HasPrefix(out, "renewed T-1 (") || !strings.Contains(out, "\nruns out: 20") {
		t.Errorf("renewed:\n%s", out)
	}
	p.taskpool(t, "comment", "T-1", "how is it?", "--actor", "agent:b")
	p.taskpool(t, "comment", "T-1", "half done", "--hold-token", token[1], "--actor", "agent:a")
	if out := p.taskpool(t, "release", "T-1", "--hold-token", token[1], "--reason", "out of time", "--actor", "agent:a"); !strings.HasPrefix(out, "released T-1 (") || !strings.Contains(out, "ready") {
		t.Errorf("released:\n%s", out)
	}
	refused("nobody holds it, so there is nothing to release", "release", "T-1", "--actor", "agent:a")
	thread := p.taskpool(t, "task", "read", "T-1", "--thread")
	for _, want := range []string{"how is it?", "half done", "out of time"} {
		if !strings.Contains(thread, want) {
			t.Errorf("%q is not in\n%s", want, thread)
		}
	}
	p.taskpool(t, "task", "create", "--title", "Urgent", "--priority", "high")
	for _, want := range []string{"T-2", "T-1"} {
		if out := p.taskpool(t, "claim", "--next", "--actor", "agent:b"); !strings.HasPrefix(out, "claimed "+want+" (") {
			t.Errorf("the next is\n%s", out)
		}
	}
	refused("nothing to claim: no task is ready; 0 wait for others, 2 are in progress", "claim", "--next", "--actor", "agent:b")
}

// Package node_test runs a client written in another language, from the proto
// files alone, against a server.
package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"reflect"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	"github.com/taskpool-dev/taskpool/server"
)

// refusal is an error as the client saw it.
type refusal struct {
	Code, Message, Reason, Domain string
	Fields                        []string
	Metadata                      map[string]string
}

// summary is what the client prints.
type summary struct {
	Created struct {
		Key, Title, Status string
		CreatedBy          string `json:"created_by"`
	}
	Replayed bool
	Batch    []string
	Read     struct {
		Status     string
		WaitsFor   int `json:"waits_for"`
		Dependents int
	}
	Listed []string
	Held   struct {
		Holder string
		Token  bool
	}
	Done struct {
		Status         string
		Steps, History int
	}
	Ready            string
	Total            string
	Invalid, Missing refusal
	Watched          struct{ Order, Snapshot, Live, Resumed []string }
	Expired, Text    refusal
	FromHead         string `json:"from_head"`
	Cycle            struct {
		Code, Reason string
		Path         int
	}
}

func TestNodeClient(t *testing.T) {
	node := needNode(t)
	addr := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	expired := feed.Cursor{Epoch: "of-another-time", Revision: 7}.String()
	cmd := exec.CommandContext(ctx, node, "client.mjs", addr, expired)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var got summary
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("created", [...]string{got.Created.Key, got.Created.Title, got.Created.Status, got.Created.CreatedBy},
		[...]string{"T-1", "Von Node: 日本語 👩‍👩‍👧", "TASK_STATUS_READY", "agent:node"})
	check("replayed", got.Replayed, true)
	check("batch", got.Batch, []string{"T-2", "T-3"})
	check("read", [...]any{got.Read.Status, got.Read.WaitsFor, got.Read.Dependents}, [...]any{"TASK_STATUS_PENDING", 1, 1})
	check("listed", got.Listed, []string{"T-1 TASK_STATUS_READY", "T-2 TASK_STATUS_PENDING", "T-3 TASK_STATUS_PENDING"})
	check("held", [...]any{got.Held.Holder, got.Held.Token}, [...]any{"agent:node", true})
	check("done", [...]any{got.Done.Status, got.Done.Steps, got.Done.History}, [...]any{"TASK_STATUS_DONE", 0, 1})
	check("ready", got.Ready, "TASK_STATUS_READY")
	check("total", got.Total, "3")
	check("invalid", [...]any{got.Invalid.Code, got.Invalid.Reason, got.Invalid.Domain, got.Invalid.Fields},
		[...]any{"INVALID_ARGUMENT", "INVALID_FIELD", "taskpool", []string{"task.title", "task.links[0]"}})
	check("missing", [...]any{got.Missing.Code, got.Missing.Reason, got.Missing.Metadata["field"]}, [...]any{"NOT_FOUND", "TASK_NOT_FOUND", "id"})
	check("order of the watch", got.Watched.Order, []string{"opened", "snapshot", "snapshot_end +cursor"})
	check("snapshot", got.Watched.Snapshot, []string{"T-1", "T-2", "T-3"})
	check("live", got.Watched.Live, []string{"CHANGE_KIND_UPSERTED live TASK_STATUS_READY TASK_EVENT_KIND_CREATED"})
	check("resumed", got.Watched.Resumed, []string{"opened where it left", "CHANGE_KIND_UPSERTED missed TASK_STATUS_READY TASK_EVENT_KIND_CREATED"})
	check("expired", [...]any{got.Expired.Code, got.Expired.Reason, got.Expired.Metadata["oldest"] != "", got.FromHead},
		[...]any{"OUT_OF_RANGE", "CURSOR_EXPIRED", true, "opened"})
	check("text", [...]any{got.Text.Code, got.Text.Fields}, [...]any{"INVALID_ARGUMENT", []string{"filter.text"}})
	check("cycle", [...]any{got.Cycle.Code, got.Cycle.Reason, got.Cycle.Path}, [...]any{"FAILED_PRECONDITION", "CYCLE", 3})
}

// needNode finds Node and the client's modules, and skips where they are
// missing: except in CI, which has to run this.
func needNode(t *testing.T) string {
	t.Helper()
	give := t.Skip
	if os.Getenv("CI") == "true" {
		give = t.Fatal
	}
	node, err := exec.LookPath("node")
	if err != nil {
		give("there is no node: the client in another language is not tried")
	}
	if _, err := os.Stat("node_modules"); err != nil {
		give("its modules are missing: npm ci --ignore-scripts --prefix test/node installs them")
	}
	return node
}

// serve starts a server and gives its address.
func serve(t *testing.T) string {
	t.Helper()
	registry, err := pool.Open(t.Context(), pool.Config{Store: memory.New(), Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Close)
	s, err := server.New(registry, server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

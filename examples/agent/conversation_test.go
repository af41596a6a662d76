package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/client/tools"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	"github.com/taskpool-dev/taskpool/server"
)

var update = flag.Bool("update", false, "write testdata anew")

// The calls of one conversation and their results, word for word, as in
// testdata/conversation.txt: go test ./examples/agent -update.
func TestConversation_golden(t *testing.T) {
	kept := memory.New()
	defer kept.Close()
	registry, err := pool.Open(t.Context(), pool.Config{Store: kept, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	defer registry.Close()
	s, err := server.New(registry, server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Drain(context.Background()) }()
	conn, err := s.Local()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	planner, err := tools.NewTaskToolPackage(conn, "", "agent:planner")
	if err != nil {
		t.Fatal(err)
	}
	coder, err := tools.NewTaskToolPackage(conn, "", "agent:coder")
	if err != nil {
		t.Fatal(err)
	}
	agents := map[string][]tools.Tool{"planner": planner.Tools(), "coder": coder.Tools()}

	calls, err := os.ReadFile("testdata/conversation.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	stable := stabilizer{}
	for _, line := range bytes.Split(bytes.TrimSpace(calls), []byte("\n")) {
		var c struct {
			Agent string `json:"agent"`
			call
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		r := answer(t.Context(), agents[c.Agent], c.call)
		fmt.Fprintf(&got, "%s> %s %s\n%s: %s\n\n", c.Agent, c.Name, c.Arguments, r.Status, stable.text(r.Text))
	}
	const golden = "testdata/conversation.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the conversation went otherwise than %s has it:\n%s", golden, got.String())
	}
}

// stabilizer gives ids and times the same text in every run.
type stabilizer map[string]string

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

func (s stabilizer) text(text string) string {
	text = uuids.ReplaceAllStringFunc(text, func(id string) string {
		if s[id] == "" {
			s[id] = fmt.Sprintf("<id %d>", len(s)+1)
		}
		return s[id]
	})
	return times.ReplaceAllString(text, "<time>")
}

// Both providers get the schemas as they are.
func TestProviders(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		var out bytes.Buffer
		if err := run(t.Context(), "127.0.0.1:1", "", "agent:coder", provider, strings.NewReader(""), &out); err != nil {
			t.Fatal(err)
		}
		var all []struct {
			Name     string
			Schema   json.RawMessage `json:"input_schema"`
			Type     string
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) != 3 {
			t.Fatalf("%s gets %d tools", provider, len(all))
		}
		for _, one := range all {
			if provider == "openai" && (one.Type != "function" || one.Function.Name == "" || one.Function.Parameters[0] != '{') ||
				provider == "anthropic" && (one.Name == "" || one.Schema[0] != '{') {
				t.Errorf("%s gets %+v", provider, one)
			}
		}
	}
	if err := run(t.Context(), "127.0.0.1:1", "", "agent:coder", "other", strings.NewReader(""), &bytes.Buffer{}); err == nil {
		t.Error("any provider is taken")
	}
}

func TestConverse_refusesWhatIsNoCall(t *testing.T) {
	var out bytes.Buffer
	if err := converse(t.Context(), nil, strings.NewReader("{\"name\":\"nothing\"}\n"), &out); err != nil || !strings.Contains(out.String(), `no tool \"nothing\"`) {
		t.Errorf("got %v, %s", err, out.String())
	}
	out.Reset()
	lines := "hello\n \r\n{\"name\":\"other\"}"
	if err := converse(t.Context(), nil, strings.NewReader(lines), &out); err != nil ||
		!strings.Contains(out.String(), "this is no call") || !strings.Contains(out.String(), `no tool \"other\"`) {
		t.Errorf("got %v, %s", err, out.String())
	}
}

package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"

	"github.com/taskpool-dev/taskpool/client/tools"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	"github.com/taskpool-dev/taskpool/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local is a connection to a server of this process.
func local(t testing.TB) *grpc.ClientConn {
	t.Helper()
	kept := memory.New()
	registry, err := pool.Open(t.Context(), pool.Config{Store: kept, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(registry, server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := s.Local()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if err := s.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		registry.Close()
		_ = kept.Close()
	})
	return conn
}

// agent is one that calls tools.
type agent struct {
	testing.TB
	*tools.TaskToolPackage
}

func newAgent(t testing.TB, conn grpc.ClientConnInterface, actor string) agent {
	t.Helper()
	p, err := tools.NewTaskToolPackage(conn, "", actor)
	if err != nil {
		t.Fatal(err)
	}
	return agent{t, p}
}

func (a agent) call(tool, arguments string) tools.Result {
	a.Helper()
	for _, one := range a.Tools() {
		if one.Name == tool {
			r := one.Call(a.Context(), json.RawMessage(arguments))
			if r.Tool != tool || r.Text == "" || r.Status != tools.StatusSuccess && r.Status != tools.StatusError {
				a.Errorf("%s: got %+v", tool, r)
			}
			return r
		}
	}
	a.Fatalf("there is no tool %s", tool)
	return tools.Result{}
}

// does calls what has to succeed.
func (a agent) does(tool, arguments string) string {
	a.Helper()
	r := a.call(tool, arguments)
	if r.Status != tools.StatusSuccess {
		a.Fatalf("%s %s: %s", tool, arguments, r.Text)
	}
	return r.Text
}

// refused calls what has to fail, with that in its text.
func (a agent) refused(tool, arguments string, want ...string) {
	a.Helper()
	r := a.call(tool, arguments)
	if r.Status != tools.StatusError {
		a.Fatalf("%s %s: %s", tool, arguments, r.Text)
	}
	for _, one := range want {
		if !strings.Contains(r.Text, one) {
			a.Errorf("%s %s: got %q, want %q in it", tool, arguments, r.Text, one)
		}
	}
}

func TestNewTaskToolPackage_refuses(t *testing.T) {
	if _, err := tools.NewTaskToolPackage(nil, "", "agent:a"); err == nil || !strings.Contains(err.Error(), "connection") {
		t.Errorf("without a connection: %v", err)
	}
	if _, err := tools.NewTaskToolPackage(local(t), "", " "); err == nil || !strings.Contains(err.Error(), "actor") {
		t.Errorf("without an actor: %v", err)
	}
}

// What is not in the schema is refused by name, all at once, and nothing happens.
func TestCall_refusesByName(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	for _, c := range []struct {
		tool, arguments string
		want            []string
	}{
		{"create_task", ``, []string{"title is missing"}},
		{"create_task", `null`, []string{"title is missing"}},
		{"create_task", `{}`, []string{"create_task was refused, nothing was changed: title is missing: it is required, a text."}},
		{"create_task", `{"title":null}`, []string{"title is missing"}},
		{"create_task", `{"title":5}`, []string{"title is the number 5: it must be a text"}},
		{"create_task", `{"title":" "}`, []string{"title is empty"}},
		{"create_task", `{"title":"x","description":""}`, []string{"description is empty: say something, or leave it out"}},
		{"create_task", `{"title":"x","steps":"do it"}`, []string{`steps is a text: it must be a list of texts, as in ["first", "second"]`}},
		{"create_task", `{"title":"x","steps":["a",5]}`, []string{"steps has the number 5 at [1]: every item is a text"}},
		{"create_task", `{"title":"x","steps":["a",null]}`, []string{"steps has null at [1]"}},
		{"create_task", `{"title":"x","priority":5}`, []string{`priority is the number 5: it must be one of "low", "medium", "high"`}},
		{"create_task", `{"title":"x","priority":"urgent"}`, []string{`priority is "urgent": it must be one of "low", "medium", "high"`}},
		{"create_task", `{"title":"x","labels":{"a":1}}`, []string{`labels has the number 1 at "a": every value is a text`}},
		{"create_task", `{"title":"x","labels":{"a":null}}`, []string{`labels has null at "a"`}},
		{"create_task", `{"titel":"x","acceptanceCriteria":[]}`, []string{
			`there is no argument "titel"`, `there is no argument "acceptanceCriteria" (did you mean "acceptance_criteria"?)`, "title is missing", "the arguments are title, description,",
		}},
		{"create_task", `{"title":"x","title":"y"}`, []string{`"title" is there twice`}},
		{"create_task", `{"title":"x","labels":{"a":"1","a":"2"}}`, []string{`labels has "a" twice`}},
		{"create_task", `{"title":"x","labels":["a"]}`, []string{"labels is a list: it must be an object of texts"}},
		{"create_task", `{"title":true}`, []string{"title is true: it must be a text"}},
		{"create_task", `{"title":"x \ud83d y"}`, []string{`\ud83d, which is half of a character`}},
		{"create_task", `{"title":"x","dependencies":[]}`, []string{`"dependencies" (did you mean "dependency_ids"?)`}},
		{"create_task", `{"title":"x","dependency_ids":["ref:a"]}`, []string{`dependency_ids[0]`, "use its id, its key"}},
		{"create_task", `{"title":"` + strings.Repeat("x", 17<<20) + `"}`, []string{"larger than the task pool takes at once", "shorten"}},
		{"create_task", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"r":1,"s":1,"t":1,"u":1,"v":1}`, []string{"the other 2 arguments were not looked at"}},
		{"read_task", `[]`, []string{`send one, as in {"id": "T-12"}`}},
		{"update_task", `{"id":"T-9","reason":"because"}`, []string{"reason says why a status", "record it as a history"}},
		{"update_task", `{"id":"T-9","labels":{"q":"1"},"remove_labels":["q"]}`, []string{"remove_labels[0] is also in labels"}},
		{"create_task", `{"title":"x"} {"title":"y"}`, []string{"more after the JSON object"}},
		{"create_task", `["x"]`, []string{"no JSON object"}},
		{"create_task", `{"title":`, []string{"can't be read as a JSON object"}},
		{"create_task", "{\"title\":\"\xff\"}", []string{"not valid UTF-8"}},
		{"create_task", `{"title":"` + strings.Repeat("x", 101) + `"}`, []string{"nothing was changed: title is 101 characters long, 100 are allowed"}},
		{"create_task", `{"title":"x","links":["nowhere"],"steps":[" "]}`, []string{"links[0] ", "steps[0] "}},
		{"create_task", `{"title":"x","dependency_ids":["T-9"]}`, []string{`dependency_ids[0]`, `"T-9"`}},
		{"create_task", `{"title":"x","parent_id":"T-9"}`, []string{"parent_id", `"T-9"`}},
		{"read_task", `{"id":"T-9"}`, []string{`"T-9"`}},
		{"read_task", `{"id":"T-9","available":false}`, []string{"id and available exclude each other"}},
		{"read_task", `{"id":"T-9","status":"done","limit":3}`, []string{"id and status, limit exclude each other"}},
		{"read_task", `{"available":"yes"}`, []string{"available is a text: it must be true or false"}},
		{"read_task", `{"status":"todo"}`, []string{`status is "todo": it must be one of "pending", "ready", "in_progress"`}},
		{"read_task", `{"limit":0}`, []string{"limit is 0: it must be from 1 to 100"}},
		{"read_task", `{"limit":1.5}`, []string{"limit is the number 1.5: it must be a whole number from 1 to 100"}},
		{"read_task", `{"page_token":"x"}`, []string{"page_token is no token of read_task"}},
		{"read_task", `{"page_token":"20.x"}`, []string{"page_token"}},
		{"read_task", `{"assignee":"a b"}`, []string{"assignee", `"a b"`}},
		{"read_task", `{"query":"x"}`, []string{`there is no argument "query"`}},
		{"update_task", `{"status":"done"}`, []string{"id is missing"}},
		{"update_task", `{"id":"T-9"}`, []string{`"T-9"`}},
		{"update_task", `{"id":"T-9","status":"pending"}`, []string{`status is "pending", which is derived from what the task depends on and is never set: it must be one of "ready", "in_progress", "done"`}},
		{"update_task", `{"id":"T-9","status":"finished"}`, []string{`status is "finished": it must be one of`}},
		{"update_task", `{"id":"T-9","title":""}`, []string{"title is empty"}},
		{"update_task", `{"id":"T-9","expected_version":3}`, []string{`there is no argument "expected_version"`}},
	} {
		a.refused(c.tool, c.arguments, c.want...)
	}
	if text := a.does("read_task", `{}`); !strings.HasPrefix(text, "[]\nNo task fits.") {
		t.Errorf("there is something now: %s", text)
	}
}

func TestUpdate_tellsWhatChanged(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	first, other := id(a.does("create_task", `{"title":"first"}`)), id(a.does("create_task", `{"title":"other"}`))
	whole := id(a.does("create_task", `{"title":"whole"}`))
	for _, c := range []struct{ arguments, want string }{
		{`{"id":"T-1"}`, "updated " + first + " (T-1), status ready"},
		{
			`{"id":"T-1","title":"First","description":"d","body":"b","acceptance_criteria":["a"],"priority":"high","type":"bug","links":["https://x.org"],"steps":["s"],"context":["c"],"constraints":["k"],"out_of_scope":["o"],"verification":["v"],"edge_cases":["e"],"history":"h","dependency_id":"T-2","assignee":"me","labels":{"b":"","a":"1"},"parent_id":"` + whole[:8] + `"}`,
			"updated " + first + " (T-1), status pending, title, description, body, acceptance criteria, priority, type, links, steps, context, constraints, out of scope, verification, edge cases, progress entry recorded, now depends on " + other + ", assigned to agent:coder, labels set: a b, part of " + whole,
		},
		{`{"id":"T-1","remove_dependency_id":"T-2","parent_id":"none"}`, "updated " + first + " (T-1), status ready, no longer depends on T-2, part of no task"},
		{`{"id":"T-1","assignee":"none","priority":"none","type":"none","steps":[],"remove_labels":["a"]}`, "updated " + first + " (T-1), status ready, priority, type, steps, assigned to nobody, without the labels: a"},
		{`{"id":"T-1","status":"in_progress"}`, "updated " + first + " (T-1), status in_progress"},
		{`{"id":"T-1","status":"done"}`, "updated " + first + " (T-1), status done. No completion summary came with it: unless one is recorded already, add it with history, saying what was done and how it was verified"},
		{`{"id":"T-2","status":"done","history":"all of it"}`, "updated " + other + " (T-2), status done, progress entry recorded"},
	} {
		if got := a.does("update_task", c.arguments); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.arguments, got, c.want)
		}
	}
}

// Refusals of the pool come as what to do, under the names of the arguments.
func TestCall_explainsRefusals(t *testing.T) {
	conn := local(t)
	a, b := newAgent(t, conn, "agent:coder"), newAgent(t, conn, "agent:other")
	a.does("create_task", `{"title":"one"}`)
	a.does("create_task", `{"title":"two","dependency_ids":["T-1"]}`)
	a.refused("update_task", `{"id":"T-2","status":"in_progress"}`, "update_task was refused, nothing was changed: ", "T-1")
	a.refused("update_task", `{"id":"T-1","dependency_id":"T-2"}`, "T-1 → T-2 → T-1")
	a.refused("update_task", `{"id":"T-2","dependency_id":"T-1"}`, "dependency_id")
	a.refused("update_task", `{"id":"T-2","remove_dependency_id":"T-2"}`, "remove_dependency_id")
	a.refused("update_task", `{"id":"T-2","dependency_id":"T-7"}`, "dependency_id")
	a.refused("update_task", `{"id":"T-1","status":"blocked"}`, "reason")
	a.refused("update_task", `{"id":"T-1","history":"`+strings.Repeat("x", 10_001)+`"}`, "history", "nothing was changed")
	a.does("update_task", `{"id":"T-1","status":"in_progress"}`)
	b.refused("update_task", `{"id":"T-1","status":"in_progress"}`, "T-1 is held by agent:coder", "take another task")
}

func TestCall_withoutAServer(t *testing.T) {
	conn := local(t)
	a := newAgent(t, conn, "agent:coder")
	a.does("create_task", `{"title":"one"}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, one := range a.Tools() {
		r := one.Call(ctx, json.RawMessage(`{"id":"T-1"}`))
		want := "whether it was done is not known"
		switch one.Name {
		case "read_task":
			want = "wait a moment and call it again"
		case "create_task":
			want = `there is no argument "id"`
		}
		if r.Status != tools.StatusError || !strings.Contains(r.Text, want) {
			t.Errorf("got %+v", r)
		}
	}
	_ = conn.Close()
	a.refused("read_task", `{}`, "read_task")
}

type panicking struct{ grpc.ClientConnInterface }

func (panicking) Invoke(context.Context, string, any, any, ...grpc.CallOption) error { panic("boom") }

func TestCall_neverPanics(t *testing.T) {
	a := newAgent(t, panicking{}, "agent:coder")
	a.refused("create_task", `{"title":"x"}`, "boom", "whether it was done is not known")
	a.refused("read_task", `{}`, "boom", "call it again")
}

// A list keeps to its size, says how many there are, and the pages together are
// all of them, once.
func TestRead_listsInPages(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	const tasks = 57
	long, items := strings.Repeat("long ", 60), make([]string, 20)
	for i := range items {
		items[i] = long
	}
	steps, _ := json.Marshal(items)
	for i := range tasks {
		a.does("create_task", fmt.Sprintf(`{"title":"task %d","description":%q,"body":%q,"steps":%s,"constraints":%s,"context":%s}`, i, long[:300], strings.Repeat(long, 10), steps, steps, steps))
	}
	for _, limit := range []string{"", `"limit":100,`, `"limit":1,`, `"limit":7,`} {
		seen, token, pages := map[string]bool{}, "null", 0
		for {
			text := a.does("read_task", `{`+limit+`"page_token":`+token+`}`)
			rows, rest := rowsAndRest(t, text)
			if len(text) > 26_000 {
				t.Errorf("an answer of %d bytes", len(text))
			}
			for _, r := range rows {
				if seen[r.Key] {
					t.Errorf("%s is listed twice", r.Key)
				}
				seen[r.Key] = true
				if len(r.Body) > 203 || len(r.Steps) != 6 || r.Steps[5] != "... and 15 more: read the task by its id" {
					t.Errorf("%s is not cut: %d, %q", r.Key, len(r.Body), r.Steps)
				}
			}
			if pages++; pages > tasks {
				t.Fatal("there is no end")
			}
			if !strings.HasPrefix(rest, "57 tasks fit; ") {
				t.Fatalf("got %s", rest)
			}
			_, next, more := strings.Cut(rest, "page_token ")
			if !more {
				break
			}
			token = strings.TrimSuffix(next, ".")
		}
		if len(seen) != tasks {
			t.Errorf("%s: %d of %d were listed", limit, len(seen), tasks)
		}
	}
	if full := a.does("read_task", `{"id":"T-1"}`); strings.Count(full, long[:299]) < 60 || !strings.Contains(full, strings.TrimSpace(strings.Repeat(long, 10))) {
		t.Error("a task that is read alone is cut")
	}
}

// listed is what a list shows of a task, as far as tests look at it.
type listed struct {
	Key, Body string
	Steps     []string
}

func rowsAndRest(t *testing.T, text string) (rows []listed, rest string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&rows); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return rows, strings.TrimSpace(text[d.InputOffset():])
}

func TestRead_filters(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	a.does("create_task", `{"title":"a","priority":"high","labels":{"area":"x"},"assignee":"me"}`)
	a.does("create_task", `{"title":"b","type":"bug","dependency_ids":["T-1"]}`)
	a.does("create_task", `{"title":"c","parent_id":"T-2"}`)
	a.does("create_task", `{"title":"d"}`)
	a.does("update_task", `{"id":"T-4","status":"done","history":"did"}`)
	for arguments, want := range map[string]string{
		`{}`: "T-1 T-2 T-3", `{"available":true}`: "T-1 T-3", `{"available":false}`: "T-1 T-2 T-3", `{"status":"done"}`: "T-4", `{"status":"pending"}`: "T-2",
		`{"available":true,"status":"done"}`: "", `{"priority":"high"}`: "T-1", `{"type":"bug"}`: "T-2", `{"labels":{"area":"x"}}`: "T-1",
		`{"assignee":"me"}`: "T-1", `{"parent_id":"T-2"}`: "T-3", `{"text":"C"}`: "T-3", `{"limit":1}`: "T-1",
	} {
		rows, rest := rowsAndRest(t, a.does("read_task", arguments))
		keys := make([]string, len(rows))
		for i, r := range rows {
			keys[i] = r.Key
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s: got %q (%s), want %q", arguments, got, rest, want)
		}
	}
}

func TestTutorial_hasTheLimits(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	text, err := a.Tutorial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"at most 100 characters", "at most 500 characters", "at most 10 items of 200 characters", "each at most 20 items of 300 characters", "at most 10000 characters together", "to 200 characters"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	missing, err := tools.NewTaskToolPackage(local(t), "nowhere", "agent:a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Tutorial(t.Context()); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("of a pool that is not there: %v", err)
	}
}

// The schemas are of the part of JSON Schema that model providers take: an object
// at the top, and in it nothing but types, enumerations, items and descriptions.
func TestTools_schemas(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	var names []string
	for _, tool := range a.Tools() {
		names = append(names, tool.Name)
		if len(tool.Description) < 100 || len(tool.Description) > 1024 {
			t.Errorf("%s: a description of %d characters; providers take 1024", tool.Name, len(tool.Description))
		}
		var s struct {
			Type                 string
			Properties           map[string]map[string]any
			Required             []string
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(tool.InputSchema, &s); err != nil {
			t.Fatal(err)
		}
		if s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties || s.Required == nil {
			t.Errorf("%s: %s", tool.Name, tool.InputSchema)
		}
		for name, p := range s.Properties {
			if p["description"] == "" || p["type"] == nil {
				t.Errorf("%s.%s: %v", tool.Name, name, p)
			}
			for key := range p {
				if !strings.Contains(" description type enum items minimum maximum additionalProperties ", " "+key+" ") {
					t.Errorf("%s.%s has %q", tool.Name, name, key)
				}
			}
		}
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", tool.Name, name)
			}
		}
	}
	if got := strings.Join(names, " "); got != "create_task read_task update_task" {
		t.Errorf("the tools are %s", got)
	}
}

// FuzzCall: whatever a model sends, there is an answer.
func FuzzCall(f *testing.F) {
	for _, arguments := range []string{"", "{}", `{"id":"T-1"}`, `{"title":"x","steps":["a"],"labels":{"a":"b"}}`, `{"status":"ready","available":true,"limit":3}`, `[`, `{"a":{}}`, "\xff"} {
		for tool := range 3 {
			f.Add(tool, []byte(arguments))
		}
	}
	conn := local(f)
	a := newAgent(f, conn, "agent:coder")
	f.Fuzz(func(t *testing.T, tool int, arguments []byte) {
		one := a.Tools()[uint(tool)%3]
		r := one.Call(t.Context(), arguments)
		if r.Tool != one.Name || r.Text == "" || strings.Contains(r.Text, "fault of its own") || r.Status != tools.StatusSuccess && r.Status != tools.StatusError {
			t.Errorf("%s %q: %+v", one.Name, arguments, r)
		}
	})
}

// id is the id that a create tells.
func id(text string) string { return strings.Fields(text)[2] }

// What a model sends in another form that means the same is taken.
func TestCall_takesOtherForms(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	a.does("create_task", `"{\"title\":\"quoted\"}"`)
	a.does("create_task", `{"title":"whole \ud83d\ude00","assignee":"None","parent_id":" none "}`)
	a.does("read_task", `{"limit":2.0,"claimable":true,"assignee":"none"}`)
	a.does("update_task", `{"id":"T-1","description":"d","body":"b"}`)
	a.does("update_task", `{"id":"T-1","description":"none","body":"None"}`)
	if text := a.does("read_task", `{"id":"T-1"}`); strings.Contains(text, "description") || strings.Contains(text, "body") || strings.Contains(text, "none") {
		t.Errorf("not cleared: %s", text)
	}
	if text := a.does("read_task", `{"id":"T-2"}`); !strings.Contains(text, "whole 😀") || strings.Contains(text, "assignee") {
		t.Errorf("got %s", text)
	}
}

// What is claimable is what can be taken, unlike what is available.
func TestRead_claimable(t *testing.T) {
	conn := local(t)
	a, b := newAgent(t, conn, "agent:coder"), newAgent(t, conn, "agent:other")
	a.does("create_task", `{"title":"free"}`)
	a.does("create_task", `{"title":"taken"}`)
	a.does("create_task", `{"title":"given","assignee":"agent:other"}`)
	b.does("update_task", `{"id":"T-2","status":"in_progress"}`)
	if text := a.does("read_task", `{"claimable":true}`); !strings.Contains(text, "1 task fits") || !strings.Contains(text, `"free"`) {
		t.Errorf("claimable: %s", text)
	}
	if text := a.does("read_task", `{"available":true}`); !strings.Contains(text, "3 tasks fit") {
		t.Errorf("available: %s", text)
	}
	a.refused("update_task", `{"id":"T-3","status":"in_progress"}`, "go on with another task")
}

// Who set the tools up wrong hears it at once, or the agent is told whom to tell.
func TestNewTaskToolPackage_setUp(t *testing.T) {
	conn := local(t)
	for _, actor := range []string{"foo", "agent:", "nobody:x", "me", "agent:a b", "agent:a\n", ""} {
		if _, err := tools.NewTaskToolPackage(conn, "", actor); err == nil {
			t.Errorf("the actor %q is taken", actor)
		}
	}
	lost, err := tools.NewTaskToolPackage(conn, "nowhere", "agent:coder")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range lost.Tools() {
		r := tool.Call(t.Context(), json.RawMessage(`{"id":"T-1"}`))
		if tool.Name == "create_task" {
			r = tool.Call(t.Context(), json.RawMessage(`{"title":"x"}`))
		}
		if r.Status != tools.StatusError || !strings.Contains(r.Text, "nowhere") || !strings.Contains(r.Text, "tell the one you work for") {
			t.Errorf("got %+v", r)
		}
	}
}

// One task never makes a list much longer than it is meant to be.
func TestRead_boundsARow(t *testing.T) {
	a := newAgent(t, local(t), "agent:coder")
	item := strings.Repeat("長", 200)
	items := `["` + strings.Repeat(item+`","`, 9) + item + `"]`
	labels := make([]string, 32)
	for i := range labels {
		labels[i] = fmt.Sprintf(`"%s%02d":"%s"`, strings.Repeat("k", 60), i, strings.Repeat("v", 255))
	}
	a.does("create_task", `{"title":"x","steps":`+items+`,"context":`+items+`,"constraints":`+items+`,"out_of_scope":`+items+`,"verification":`+items+`,"edge_cases":`+items+`,"labels":{`+strings.Join(labels, ",")+`}}`)
	if text := a.does("read_task", `{}`); len(text) > 24_000 {
		t.Errorf("the list has %d bytes", len(text))
	}
}

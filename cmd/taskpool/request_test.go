package main

import (
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// ok are answers to every call, so that a command gets as far as asking.
func ok() map[string]func(proto.Message) (proto.Message, error) {
	task := &taskpoolv1.Task{Id: "5a1f0c2e-0000-4000-8000-000000000001", Key: "T-1", Title: "One", Status: taskpoolv1.TaskStatus_TASK_STATUS_READY}
	return map[string]func(proto.Message) (proto.Message, error){
		"CreateTask":  always(&taskpoolv1.CreateTaskResponse{Task: task}),
		"CreateTasks": always(&taskpoolv1.CreateTasksResponse{Tasks: []*taskpoolv1.Task{task, {Key: "T-2"}}}),
		"ReadTask":    always(&taskpoolv1.ReadTaskResponse{Task: task}),
		"UpdateTask":  always(&taskpoolv1.UpdateTaskResponse{Task: task}),
		"DeleteTask":  always(&taskpoolv1.DeleteTaskResponse{}),
		"ClaimTask":   always(&taskpoolv1.ClaimTaskResponse{}),
		"RenewHold":   always(&taskpoolv1.RenewHoldResponse{}),
		"ReleaseTask": always(&taskpoolv1.ReleaseTaskResponse{}),
		"CommentTask": always(&taskpoolv1.CommentTaskResponse{}),
		"ExplainTask": always(&taskpoolv1.ExplainTaskResponse{}),
		"ListMembers": always(&taskpoolv1.ListMembersResponse{}),
		"CreatePool":  always(&taskpoolv1.CreatePoolResponse{Pool: &taskpoolv1.Pool{Name: "web"}}),
		"GetPool":     always(&taskpoolv1.GetPoolResponse{Pool: &taskpoolv1.Pool{Name: "web"}}),
		"ListPools":   always(&taskpoolv1.ListPoolsResponse{}),
		"ClearPool":   always(&taskpoolv1.ClearPoolResponse{Pool: &taskpoolv1.Pool{Name: "web"}}),
	}
}

// What arguments become.
func TestRequests(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body.md")
	if err := os.WriteFile(body, []byte("# Body\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		stdin string
		want  proto.Message
		text  string
	}{
		{
			args: []string{"task", "create", "--title", "A title", "--request-id", "r"},
			want: &taskpoolv1.CreateTaskRequest{}, text: `pool: "default" request_id: "r" task { title: "A title" }`,
		},
		{
			args: []string{
				"task", "create", "--title", "t", "--description", "d", "--body", "b", "--accept", "a, b", "--accept", "c", "--step", "s1", "--step", "s2",
				"--constraint", "c1", "--out-of-scope", "o", "--verify", "v", "--context", "x", "--edge-case", "e", "--link", "https://example.com",
				"--label", "team=core", "--label", "empty=", "--priority", "HIGH", "--type", "bug", "--depends-on", "T-1,T-2", "--depends-on", "T-3",
				"--parent", "T-4", "--assignee", "bob", "--reviewer", "carol", "--no-review", "--not-before", "2026-01-02T15:04:05+02:00",
				"--discovered-from", "T-5", "--request-id", "r", "--pool", "web",
			},
			want: &taskpoolv1.CreateTaskRequest{},
			text: `pool: "web" request_id: "r" task {
				title: "t" description: "d" body: "b" acceptance_criteria: ["a, b", "c"] steps: ["s1", "s2"] constraints: "c1" out_of_scope: "o"
				verification: "v" context: "x" edge_cases: "e" links: "https://example.com"
				labels { key: "team" value: "core" } labels { key: "empty" value: "" }
				priority: TASK_PRIORITY_HIGH type: TASK_TYPE_BUG dependency_ids: ["T-1", "T-2", "T-3"] parent_id: "T-4"
				assignee: "bob" reviewer: "carol" no_review: true not_before { seconds: 1767359045 } discovered_from_id: "T-5"
			}`,
		},
		{
			args: []string{"task", "create", "--title", "t", "--body-file", "-", "--not-before", "+1h30m", "--request-id", "r"}, stdin: "from\r\nstdin",
			want: &taskpoolv1.CreateTaskRequest{}, text: `pool: "default" request_id: "r" task { title: "t" body: "from\r\nstdin" not_before { seconds: 1767360600 } }`,
		},
		{
			args: []string{"task", "create", "--title", "t", "--body-file", body, "--not-before", "+2d", "--request-id", "r"},
			want: &taskpoolv1.CreateTaskRequest{}, text: `pool: "default" request_id: "r" task { title: "t" body: "# Body\n" not_before { seconds: 1767528000 } }`,
		},
		{
			args: []string{"task", "create", "--from", "-", "--request-id", "r"}, stdin: "\ufeff{\"ref\":\"a\",\"title\":\"A\"}\r\n\r\n{\"title\":\"B\",\"dependencyIds\":[\"ref:a\"]}\r\n",
			want: &taskpoolv1.CreateTasksRequest{}, text: `pool: "default" request_id: "r" tasks { ref: "a" title: "A" } tasks { title: "B" dependency_ids: "ref:a" }`,
		},
		{
			args: []string{"task", "read", "T-1", "--thread", "--relatives"},
			want: &taskpoolv1.ReadTaskRequest{}, text: `pool: "default" id: "T-1" include_thread: true thread_page_size: 1000 include_relatives: true`,
		},
		{
			args: []string{"task", "read", "T-1", "--view", "compact", "--json"},
			want: &taskpoolv1.ReadTaskRequest{}, text: `pool: "default" id: "T-1" view: TASK_VIEW_COMPACT`,
		},
		{
			args: []string{"task", "list"},
			want: &taskpoolv1.ReadTaskRequest{}, text: `pool: "default" filter {} page_size: 50 include_total: true`,
		},
		{
			args: []string{
				"task", "list", "--status", "ready,in-progress", "--status", "done", "--available", "--claimable", "--priority", "high,none", "--type", "bug",
				"--assignee", "bob", "--holder", "me", "--reviewer", "r", "--created-by", "human", "--parent", "T-1", "--label", "a=b", "--label", "c=d",
				"--closed-since", "-24h", "--all", "--text", "x y", "--graph", "tg-1", "--agent", "coder", "--limit", "2000", "--page-token", "tok", "--view", "full",
			},
			want: &taskpoolv1.ReadTaskRequest{},
			text: `pool: "default" page_size: 1000 page_token: "tok" view: TASK_VIEW_FULL filter {
				statuses: [TASK_STATUS_READY, TASK_STATUS_IN_PROGRESS, TASK_STATUS_DONE] available: true claimable: true
				priorities: [TASK_PRIORITY_HIGH, TASK_PRIORITY_UNSPECIFIED] types: TASK_TYPE_BUG assignee: "bob" holder: "me" reviewer: "r" created_by: "human"
				parent_id: "T-1" labels { key: "a" value: "b" } labels { key: "c" value: "d" } closed_since { seconds: 1767268800 } include_closed: true
				text: "x y" graph_id: "tg-1" agent: "coder"
			}`,
		},
		{
			args: []string{"task", "list", "--unassigned", "--top-level", "--limit", "0"},
			want: &taskpoolv1.ReadTaskRequest{}, text: `pool: "default" filter { unassigned: true top_level: true } page_size: 1000 include_total: true`,
		},
		{
			args: []string{"task", "update", "T-1", "--title", "new", "--request-id", "r"},
			want: &taskpoolv1.UpdateTaskRequest{}, text: `pool: "default" id: "T-1" request_id: "r" title: "new"`,
		},
		{
			args: []string{
				"task", "update", "T-1", "--description", "", "--body", "", "--priority", "none", "--type", "chore", "--assignee", "", "--reviewer=", "--parent", "",
				"--accept", "", "--step", "a", "--step", "b", "--link=", "--set-label", "k=v", "--remove-label", "x,y", "--add-dependency", "T-2",
				"--remove-dependency", "T-3,T-4", "--not-before", "none", "--request-id", "r",
			},
			want: &taskpoolv1.UpdateTaskRequest{},
			text: `pool: "default" id: "T-1" request_id: "r" description: "" body: "" priority: TASK_PRIORITY_UNSPECIFIED type: TASK_TYPE_CHORE assignee: "" reviewer: ""
				parent_id: "" acceptance_criteria {} steps { values: ["a", "b"] } links {} set_labels { key: "k" value: "v" } remove_labels: ["x", "y"]
				add_dependency_ids: "T-2" remove_dependency_ids: ["T-3", "T-4"] not_before {}`,
		},
		{
			args: []string{
				"task", "update", "T-1", "--status", "blocked", "--reason", "why", "--force", "--note", "a line", "--expected-version", "7", "--hold-token", "h", "--request-id", "r",
			},
			want: &taskpoolv1.UpdateTaskRequest{},
			text: `pool: "default" id: "T-1" request_id: "r" status: TASK_STATUS_BLOCKED reason: "why" force: true history_entry: "a line" expected_version: 7 hold_token: "h"`,
		},
		{
			args: []string{"claim", "T-1", "--lease", "1m30s", "--run-id", "run", "--request-id", "r"},
			want: &taskpoolv1.ClaimTaskRequest{}, text: `pool: "default" id: "T-1" lease { seconds: 90 } run_id: "run" request_id: "r"`,
		},
		{
			args: []string{"claim", "T-1", "--request-id", "r"},
			want: &taskpoolv1.ClaimTaskRequest{}, text: `pool: "default" id: "T-1" request_id: "r"`,
		},
		{
			args: []string{"claim", "--next", "--priority", "high", "--label", "a=b", "--parent", "T-3", "--lease", "1m", "--wait", "30s", "--request-id", "r"},
			want: &taskpoolv1.ClaimTaskRequest{},
			text: `pool: "default" filter { priorities: TASK_PRIORITY_HIGH labels { key: "a" value: "b" } parent_id: "T-3" } lease { seconds: 60 } wait { seconds: 30 } request_id: "r"`,
		},
		{
			args: []string{"renew", "T-1", "--hold-token", "h", "--lease", "1h", "--request-id", "r"},
			want: &taskpoolv1.RenewHoldRequest{}, text: `pool: "default" id: "T-1" hold_token: "h" lease { seconds: 3600 } request_id: "r"`,
		},
		{
			args: []string{"release", "T-1", "--hold-token", "h", "--reason", "why", "--request-id", "r"},
			want: &taskpoolv1.ReleaseTaskRequest{}, text: `pool: "default" id: "T-1" hold_token: "h" reason: "why" request_id: "r"`,
		},
		{
			args: []string{"comment", "T-1", "how is it?", "--request-id", "r"},
			want: &taskpoolv1.CommentTaskRequest{}, text: `pool: "default" id: "T-1" body: "how is it?" request_id: "r"`,
		},
		{
			args: []string{"task", "delete", "T-1", "--expected-version", "7", "--request-id", "r"},
			want: &taskpoolv1.DeleteTaskRequest{}, text: `pool: "default" id: "T-1" expected_version: 7 request_id: "r"`,
		},
		{
			args: []string{"task", "explain", "T-1", "--pool", "web"},
			want: &taskpoolv1.ExplainTaskRequest{}, text: `pool: "web" id: "T-1"`,
		},
		{
			args: []string{"members", "me"},
			want: &taskpoolv1.ListMembersRequest{}, text: `pool: "default" name: "me"`,
		},
		{
			args: []string{"pool", "create", "web", "--limit", "title_length=200", "--limit", "tasks-per-batch=5", "--edit-rule", "filer", "--request-id", "r"},
			want: &taskpoolv1.CreatePoolRequest{}, text: `name: "web" request_id: "r" limits { title_length: 200 tasks_per_batch: 5 } edit_rule: EDIT_RULE_FILER`,
		},
		{
			args: []string{"pool", "show", "--pool", "web"},
			want: &taskpoolv1.GetPoolRequest{}, text: `pool: "web"`,
		},
		{
			args: []string{"pool", "show", "other", "--pool", "web"},
			want: &taskpoolv1.GetPoolRequest{}, text: `pool: "other"`,
		},
		{
			args: []string{"pool", "list", "--limit", "3"},
			want: &taskpoolv1.ListPoolsRequest{}, text: `page_size: 3`,
		},
		{
			args: []string{"pool", "clear", "web", "--confirm", "web", "--request-id", "r"},
			want: &taskpoolv1.ClearPoolRequest{}, text: `pool: "web" confirm_name: "web" request_id: "r"`,
		},
	} {
		f := newFake(t, ok())
		s := at(f)
		s.stdin = c.stdin
		r := s.run(t, c.args...)
		if r.code != exitDone {
			t.Errorf("%q: %+v", c.args, r)
			continue
		}
		if err := prototext.Unmarshal([]byte(c.text), c.want); err != nil {
			t.Fatalf("%q: %v", c.args, err)
		}
		if got := last[proto.Message](t, f); !proto.Equal(got, c.want) {
			t.Errorf("%q asks\n%v\nwant\n%v", c.args, prototext.Format(got), prototext.Format(c.want))
		}
	}
}

func TestEachChangeGetsItsOwnRequestID(t *testing.T) {
	f := newFake(t, ok())
	seen := map[string]bool{}
	for range 2 {
		at(f).run(t, "task", "create", "--title", "x")
		seen[last[*taskpoolv1.CreateTaskRequest](t, f).GetRequestId()] = true
	}
	if len(seen) != 2 || seen[""] {
		t.Errorf("request ids %v", seen)
	}
}

func TestActorAndToken(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("  from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env         map[string]string
		args        []string
		actor, auth string
	}{
		{nil, nil, "human", ""},
		{map[string]string{"TASKPOOL_ACTOR": "agent:bob", "TASKPOOL_TOKEN": "from-env"}, nil, "agent:bob", "Bearer from-env"},
		{map[string]string{"TASKPOOL_ACTOR": "agent:bob", "TASKPOOL_TOKEN": "from-env"}, []string{"--actor", "agent:eve", "--token-file", token}, "agent:eve", "Bearer from-file"},
		{map[string]string{"TASKPOOL_TOKEN_FILE": token}, nil, "human", "Bearer from-file"},
	} {
		f := newFake(t, ok())
		s := at(f)
		for k, v := range c.env {
			s.env[k] = v
		}
		if r := s.run(t, append([]string{"task", "read", "T-1"}, c.args...)...); r.code != exitDone {
			t.Fatalf("%+v", r)
		}
		header := f.headers[0]
		auth := ""
		if sent := header.Get("authorization"); len(sent) > 0 {
			auth = sent[0]
		}
		if got := header.Get("taskpool-actor"); len(got) != 1 || got[0] != c.actor || auth != c.auth {
			t.Errorf("%v %v: actor %q, authorization %q", c.env, c.args, got, auth)
		}
	}
}

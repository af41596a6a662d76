package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func when(hour int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC))
}

func id(n int) string { return fmt.Sprintf("0000000%d-0000-4000-8000-000000000000", n) }

func TestListForPeople(t *testing.T) {
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": always(&taskpoolv1.ReadTaskResponse{
		Tasks: []*taskpoolv1.Task{
			{Key: "T-1", Title: "Write the reader", Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, Priority: taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH, Holder: "agent:bob", Assignee: "agent:bob"},
			{Key: "T-2", Title: "日本語 \x1b[31mred", Status: taskpoolv1.TaskStatus_TASK_STATUS_PENDING, Assignee: "human", UnfinishedDependencyIds: []string{"a", "b"}, ChildrenTotal: 4, ChildrenDone: 1},
		},
		NextPageToken: "tok", TotalMatches: 706, TotalIsExact: true,
	})})
	at(f).run(t, "task", "list", "--limit", "2").want(t, exitDone, ""+
		"KEY  STATUS       PRIORITY  TITLE               WHO               WAITS FOR  SUBTASKS\n"+
		"T-1  in_progress  high      Write the reader    agent:bob\n"+
		"T-2  pending                日本語 \\x1b[31mred  human (assigned)  2 tasks    1/4\n"+
		"\nThese are not all: 704 more, 706 together. See them with --limit 0, or the next with --page-token tok\n", "")
	r := at(f).run(t, "task", "list", "--limit", "2", "--color", "always")
	if !strings.Contains(r.out, "\x1b[33min_progress\x1b[0m") || strings.Contains(r.out, "\x1b[31mred") {
		t.Errorf("in colour: %q", r.out)
	}
	r = at(f).run(t, "task", "list", "--limit", "2", "--page-token", "x")
	if !strings.Contains(r.out, "\nThese are not all: there are more. See them with --limit 0, or the next with --page-token tok\n") {
		t.Errorf("from the middle: %q", r.out)
	}
}

func TestListGoesOnToItsLimit(t *testing.T) {
	pages := map[string]*taskpoolv1.ReadTaskResponse{
		"":  {NextPageToken: "a", TotalMatches: 1500, Cursor: "c0"},
		"a": {NextPageToken: "b"},
		"b": {},
	}
	for token, n := range map[string]int{"": 1000, "a": 400, "b": 100} {
		for range n {
			pages[token].Tasks = append(pages[token].Tasks, &taskpoolv1.Task{Key: "T"})
		}
	}
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": func(m proto.Message) (proto.Message, error) {
		return pages[m.(*taskpoolv1.ReadTaskRequest).GetPageToken()], nil
	}})
	for limit, want := range map[string]int{"0": 1500, "1400": 1400, "2000": 1500, "50": 1000 /* a server that gives more than asked */} {
		r := at(f).run(t, "task", "list", "--json", "--limit", limit)
		var got struct {
			Tasks         []any
			NextPageToken string `json:"next_page_token"`
			TotalMatches  string `json:"total_matches"`
			Cursor        string
		}
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || len(got.Tasks) != want || got.Cursor != "c0" || got.TotalMatches != "1500" {
			t.Errorf("limit %s: %d tasks, %+v, %v", limit, len(got.Tasks), got.NextPageToken, err)
		}
	}
	if r := at(f).run(t, "task", "list", "--limit", "1400"); !strings.Contains(r.out, "at least 100 more, at least 1500 together") {
		t.Errorf("%q", r.out[len(r.out)-200:])
	}
}

func TestEmptyLists(t *testing.T) {
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){
		"ReadTask": always(&taskpoolv1.ReadTaskResponse{TotalIsExact: true, Cursor: "c"}), "ListMembers": always(&taskpoolv1.ListMembersResponse{}),
	})
	at(f).run(t, "task", "list").want(t, exitDone, "", "no task is selected\n")
	at(f).run(t, "task", "list", "--json").want(t, exitDone, "{\n  \"tasks\": [],\n  \"next_page_token\": \"\",\n  \"total_is_exact\": true,\n  \"cursor\": \"c\"\n}\n", "")
	at(f).run(t, "members", "--json").want(t, exitDone, "{\n  \"members\": [],\n  \"next_page_token\": \"\"\n}\n", "")
}

// whole is a task with everything set that the page shows.
func whole() *taskpoolv1.ReadTaskResponse {
	return &taskpoolv1.ReadTaskResponse{
		Task: &taskpoolv1.Task{
			Id: id(1), Key: "T-1", Title: "Write the reader", Status: taskpoolv1.TaskStatus_TASK_STATUS_PENDING, Version: 3,
			Priority: taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH, Type: taskpoolv1.TaskType_TASK_TYPE_FEATURE,
			Description: "So that we can read.", Body: "# Reader\r\n\r\nIt reads.\x1b[2J\n", AcceptanceCriteria: []string{"it reads", "it\nreads fast"}, Steps: []string{"think", "write"},
			Links: []string{"https://example.com"}, Labels: map[string]string{"team": "core", "area": "io"}, ParentId: id(4),
			DependencyIds: []string{id(2), id(3)}, UnfinishedDependencyIds: []string{id(2)}, DependentIds: []string{id(9)},
			ChildrenTotal: 1, CreatedAt: when(9), CreatedBy: "human", UpdatedAt: when(10), Assignee: "agent:bob",
			History: []*taskpoolv1.ProgressEntry{{At: when(10), Actor: "agent:bob", Text: "half done"}},
		},
		Parent:   &taskpoolv1.Task{Id: id(4), Key: "T-4", Title: "The whole", Status: taskpoolv1.TaskStatus_TASK_STATUS_READY},
		Children: []*taskpoolv1.Task{{Id: id(5), Key: "T-5", Title: "A part", Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, Holder: "agent:eve"}},
		Events: []*taskpoolv1.TaskEvent{
			{At: when(9), Actor: "human", Kind: taskpoolv1.TaskEventKind_TASK_EVENT_KIND_CREATED, Body: "created"},
			{At: when(10), Actor: "agent:bob", Via: "agent:runner", Kind: taskpoolv1.TaskEventKind_TASK_EVENT_KIND_COMMENT, Body: "two\nlines"},
		},
		NextThreadPageToken: "more",
	}
}

func TestReadForPeople(t *testing.T) {
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": func(m proto.Message) (proto.Message, error) {
		r := m.(*taskpoolv1.ReadTaskRequest)
		switch {
		case r.GetId() == id(2):
			return &taskpoolv1.ReadTaskResponse{Task: &taskpoolv1.Task{Id: id(2), Key: "T-2", Title: "Schema", Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS}}, nil
		case r.GetId() == id(3):
			return &taskpoolv1.ReadTaskResponse{Task: &taskpoolv1.Task{Id: id(3), Key: "T-3", Title: "Paper", Status: taskpoolv1.TaskStatus_TASK_STATUS_DONE}}, nil
		case r.GetId() == id(9):
			return refuses(t, 5, "TASK_NOT_FOUND", "gone meanwhile", nil)(m)
		case r.GetThreadPageToken() == "more":
			return &taskpoolv1.ReadTaskResponse{Events: []*taskpoolv1.TaskEvent{{At: when(11), Actor: "human", Kind: taskpoolv1.TaskEventKind_TASK_EVENT_KIND_COMMENT, Redacted: true}}}, nil
		}
		return whole(), nil
	}})
	at(f).run(t, "task", "read", "T-1", "--thread", "--relatives").want(t, exitDone, `T-1  Write the reader
pending: waits for T-2

id          00000001-0000-4000-8000-000000000000
priority    high
type        feature
assignee    agent:bob
labels      area=io, team=core
parent      T-4 ready: The whole
children    0/1
depends on  T-2 in_progress: Schema
            T-3 done: Paper
needed by   00000009
created     2026-01-02 09:00:00Z by human
updated     2026-01-02 10:00:00Z
version     3

Description
  So that we can read.

Body
  # Reader

  It reads.\x1b[2J

Acceptance criteria
  - it reads
  - it
    reads fast

Steps
  1. think
  2. write

Links
  - https://example.com

Children
  KEY  STATUS       TITLE   WHO
  T-5  in_progress  A part  agent:eve

History
  2026-01-02 10:00:00Z  agent:bob  half done

Thread
  2026-01-02 09:00:00Z  human  created  created
  2026-01-02 10:00:00Z  agent:bob via agent:runner  comment
      two
      lines
  2026-01-02 11:00:00Z  human  comment  (taken away by an operator)
`, "")
}

func TestStatusSaysWhy(t *testing.T) {
	for want, task := range map[string]*taskpoolv1.Task{
		"ready: nothing is in the way":                                                          {Status: taskpoolv1.TaskStatus_TASK_STATUS_READY},
		"ready: nothing is in the way; waits for human":                                         {Status: taskpoolv1.TaskStatus_TASK_STATUS_READY, Assignee: "human"},
		"pending: waits for 2026-01-02 09:00:00Z":                                               {Status: taskpoolv1.TaskStatus_TASK_STATUS_PENDING, NotBefore: when(9)},
		"in_progress: held by agent:bob since 2026-01-02 09:00:00Z":                             {Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, Holder: "agent:bob", HeldAt: when(9)},
		"in_progress: held by agent:bob since 2026-01-02 09:00:00Z, until 2026-01-02 10:00:00Z": {Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, Holder: "agent:bob", HeldAt: when(9), HoldExpiresAt: when(10)},
		`blocked: a \x1b[2J reason`:                                                             {Status: taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED, BlockedReason: "a \x1b[2J reason"},
		"review: waits for the verdict of agent:eve":                                            {Status: taskpoolv1.TaskStatus_TASK_STATUS_REVIEW, Reviewer: "agent:eve"},
		"done since 2026-01-02 11:00:00Z":                                                       {Status: taskpoolv1.TaskStatus_TASK_STATUS_DONE, ClosedAt: when(11)},
	} {
		f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": always(&taskpoolv1.ReadTaskResponse{Task: task})})
		if r := at(f).run(t, "task", "read", "T-1"); !strings.Contains(r.out, "\n"+want+"\n") {
			t.Errorf("%q lacks %q", r.out, want)
		}
	}
}

func TestJSONIsStableAndHarmless(t *testing.T) {
	answer := whole()
	answer.NextThreadPageToken = ""
	answer.Task.Title = "esc \x1b csi \u009b bidi \u202e <&> 日本語"
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": always(answer)})
	r := at(f).run(t, "task", "read", "T-1", "--json")
	if !strings.Contains(r.out, `"title": "esc \u001b csi \u009b bidi \u202e <&> 日本語"`) || !strings.HasPrefix(r.out, "{\n  \"task\": {\n    \"id\": \"00000001-") {
		t.Errorf("%s", r.out)
	}
	got := &taskpoolv1.ReadTaskResponse{}
	if err := protojson.Unmarshal([]byte(r.out), got); err != nil || !proto.Equal(got.GetTask(), answer.GetTask()) {
		t.Errorf("does not come back: %v", err)
	}
}

func TestExplain(t *testing.T) {
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ExplainTask": func(m proto.Message) (proto.Message, error) {
		claimable := m.(*taskpoolv1.ExplainTaskRequest).GetId() == "T-2"
		return &taskpoolv1.ExplainTaskResponse{Claimable: claimable, Checks: []*taskpoolv1.ExplainCheck{
			{Name: "open", Holds: true, Detail: "It is open."},
			{Name: "dependencies", Holds: claimable, Detail: "T-3 is not done."},
		}}, nil
	}})
	at(f).run(t, "task", "explain", "T-1").want(t, exitDone,
		"T-1 can't be claimed by human: T-3 is not done.\n  ok  open          It is open.\n  no  dependencies  T-3 is not done.\n", "")
	r := at(f).run(t, "task", "explain", "T-2", "--actor", "agent:bob")
	if !strings.HasPrefix(r.out, "T-2 can be claimed by agent:bob.\n") {
		t.Errorf("%q", r.out)
	}
	a := &app{}
	a.screen.Symbols = true
	if got := a.explanation("T-1", &taskpoolv1.ExplainTaskResponse{Checks: []*taskpoolv1.ExplainCheck{{Name: "a", Holds: true}, {Name: "b"}}}); got != "T-1 can't be claimed by : \n  ✓  a\n  ✗  b\n" {
		t.Errorf("%q", got)
	}
}

func TestAnswersToChanges(t *testing.T) {
	task := &taskpoolv1.Task{Id: id(1), Key: "T-1", Title: "One\nline", Status: taskpoolv1.TaskStatus_TASK_STATUS_READY}
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){
		"CreateTask":  always(&taskpoolv1.CreateTaskResponse{Task: task}),
		"CreateTasks": always(&taskpoolv1.CreateTasksResponse{Tasks: []*taskpoolv1.Task{task, {Key: "T-2"}}, Replayed: true}),
		"UpdateTask":  always(&taskpoolv1.UpdateTaskResponse{Task: task, HoldToken: "secret"}),
		"DeleteTask":  always(&taskpoolv1.DeleteTaskResponse{}),
		"CreatePool":  always(&taskpoolv1.CreatePoolResponse{Pool: &taskpoolv1.Pool{Name: "web"}}),
		"ClearPool":   always(&taskpoolv1.ClearPoolResponse{Pool: &taskpoolv1.Pool{Name: "web"}}),
		"ListMembers": always(&taskpoolv1.ListMembersResponse{ResolvedId: "agent:bob", Members: []*taskpoolv1.Member{{Id: "agent:bob", Kind: taskpoolv1.MemberKind_MEMBER_KIND_AGENT}}}),
		"ListPools":   always(&taskpoolv1.ListPoolsResponse{Pools: []*taskpoolv1.Pool{{Name: "default", CreatedAt: when(9), EditRule: taskpoolv1.EditRule_EDIT_RULE_ANYONE}}, NextPageToken: "n"}),
		"GetPool": always(&taskpoolv1.GetPoolResponse{Pool: &taskpoolv1.Pool{
			Name: "web", Counts: &taskpoolv1.PoolCounts{Total: 3, Ready: 1, Done: 2}, Identity: taskpoolv1.PoolIdentity_POOL_IDENTITY_DECLARED,
			Limits: &taskpoolv1.PoolLimits{TitleLength: proto.Int64(100)}, EditRule: taskpoolv1.EditRule_EDIT_RULE_FILER,
		}}),
	})
	stdin := at(f)
	stdin.stdin = "{\"title\":\"x\"}\n{\"title\":\"y\"}"
	at(f).run(t, "task", "create", "--title", "x").want(t, exitDone, "created T-1 ("+id(1)+"), ready: One\\nline\n", "")
	stdin.run(t, "task", "create", "--from", "-").want(t, exitDone, "created before, by the same request: 2 tasks, T-1 to T-2\n", "")
	at(f).run(t, "task", "update", "T-1", "--status", "in_progress").want(t, exitDone, "updated T-1 ("+id(1)+"), ready: One\\nline\nhold token: secret\n", "")
	at(f).run(t, "task", "delete", "T-1").want(t, exitDone, "deleted T-1\n", "")
	at(f).run(t, "pool", "create", "web").want(t, exitDone, "created pool web\n", "")
	at(f).run(t, "pool", "clear", "web", "--confirm", "web").want(t, exitDone, "cleared pool web\n", "")
	at(f).run(t, "members", "bob").want(t, exitDone, "agent:bob\n", "")
	at(f).run(t, "members").want(t, exitDone, "ID         KIND\nagent:bob  agent\n", "")
	at(f).run(t, "pool", "list", "--limit", "1").want(t, exitDone, "NAME     EDITED BY  CREATED\ndefault  anyone     2026-01-02 09:00:00Z\n\nThese are not all. See them with --limit 0, or the next with --page-token n\n", "")
	at(f).run(t, "pool", "show", "web").want(t, exitDone, `web
tasks        3: 1 ready, 2 done
edited by    filer
callers      declared: they say who they are, and are believed

Limits
  title_length                 100
`, "")
}

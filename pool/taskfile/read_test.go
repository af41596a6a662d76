package taskfile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// fileOf is a file of tasks that are written as JSON.
func fileOf(tasks ...string) string { return `{"tasks": [` + strings.Join(tasks, ", ") + `]}` }

// with is a good task with more fields, those at the end winning by name.
func with(id string, more ...string) string {
	return `{"id": "` + id + `", "title": "t", "status": "ready"` + strings.Join(append([]string{""}, more...), ", ") + `}`
}

// told are problems as one line each.
func told(wrong task.Violations) string {
	lines := make([]string, len(wrong))
	for i, v := range wrong {
		lines[i] = v.String()
	}
	return strings.Join(lines, "\n")
}

func TestReadRefuses(t *testing.T) {
	const other = `"acceptanceCriteria": [1, "ok", " "], "steps": "x", "links": ["foo"], "priority": "urgent"`
	for name, c := range map[string]struct {
		file string
		want []string // the beginning of each problem
	}{
		"nothing":              {"", []string{`the file is empty: a file without tasks is {"tasks": []}`}},
		"white space":          {" \n", []string{"the file is empty"}},
		"a mark alone":         {"\ufeff", []string{"the file is empty"}},
		"no JSON":              {"{\r\n\"tasks\": [\n  oh]}", []string{"the file is no JSON: invalid character 'o' looking for beginning of value in line 3, column 3"}},
		"cut off":              {`{"tasks": [`, []string{"the file is no JSON: unexpected end of JSON input in line 1, column"}},
		"something after":      {`{"tasks": []} {}`, []string{"the file is no JSON: invalid character '{' after top-level value in line 1, column 15"}},
		"two marks":            {"\ufeff\ufeff{}", []string{"the file is no JSON"}},
		"not UTF-8":            {"{\n\"tasks\": \"a\xff\"}", []string{"the file is not valid UTF-8 in line 2, column 12: save the file as UTF-8"}},
		"UTF-16":               {"\xff\xfe{\x00}\x00", []string{"the file is not valid UTF-8 in line 1, column 1"}},
		"a list":               {"[]", []string{"the file is a list: write an object"}},
		"null":                 {"null", []string{"the file is null"}},
		"an empty object":      {"{}", []string{"tasks is missing"}},
		"no list":              {`{"tasks": {}}`, []string{"tasks is no list"}},
		"tasks null":           {`{"tasks": null}`, []string{"tasks is no list"}},
		"unknown on top":       {`{"version": {"tasks": []}, "tasks": [], "Tasks": []}`, []string{"version is unknown: a file has tasks and nothing else", "Tasks is unknown"}},
		"tasks twice":          {`{"tasks": [], "tasks": []}`, []string{"tasks is there twice"}},
		"a task that is none":  {fileOf(`"x"`, `[]`, `null`, `1`, `true`), []string{"tasks[0] is a text: write an object", "tasks[1] is a list", "tasks[2] is null", "tasks[3] is a number", "tasks[4] is true or false"}},
		"an empty task":        {fileOf(`{}`), []string{"tasks[0].id is missing", "tasks[0].title is missing", "tasks[0].status is missing"}},
		"an unknown field":     {fileOf(with(parser, `"owner": 1`)), []string{"tasks[0].owner is unknown: a task in this file has no such field; take it out"}},
		"another case":         {fileOf(with(parser, `"Title": "x"`)), []string{"tasks[0].Title is unknown"}},
		"snake case":           {fileOf(with(parser, `"edge_cases": []`)), []string{"tasks[0].edge_cases is unknown"}},
		"a name like any":      {fileOf(with(parser, `"a b\n": 1`)), []string{`tasks[0]."a b\n" is unknown`}},
		"milestone":            {fileOf(with(parser, `"milestone": "r1"`)), []string{"tasks[0].milestone is unknown: a pool has no milestones"}},
		"later dependencies":   {fileOf(with(parser, `"dependencies": []`)), []string{"tasks[0].dependencies is unknown: write dependencyIds"}},
		"a field twice":        {fileOf(with(parser, `"title": "again"`)), []string{"tasks[0].title is there twice: keep one"}},
		"types":                {fileOf(`{"id": 1, "title": null, "status": ["ready"], "description": true, "history": {}, "dependencyIds": "x", "priority": 3, "type": null, "links": 1}`), []string{"tasks[0].id is a number", "tasks[0].title is null", "tasks[0].status is a list", "tasks[0].description is true or false", "tasks[0].history is an object", "tasks[0].dependencyIds is a text", "tasks[0].priority is a number", "tasks[0].type is null", "tasks[0].links is a number"}},
		"items":                {fileOf(with(parser, other)), []string{"tasks[0].acceptanceCriteria[0] is a number", "tasks[0].steps is a text", `tasks[0].priority is "urgent": write low, medium or high`, `tasks[0].links[0] "foo" is no absolute URL`}},
		"a dependency":         {fileOf(with(parser, `"dependencyIds": [null]`)), []string{"tasks[0].dependencyIds[0] is null"}},
		"status":               {fileOf(`{"id": "`+parser+`", "title": "t"}`, `{"id": "`+runner+`", "title": "t", "status": "blocked"}`, `{"id": "`+world+`", "title": "t", "status": ""}`, `{"id": "`+clean+`", "title": "t", "status": "Done"}`), []string{"tasks[0].status is missing", `tasks[1].status is "blocked": write pending, ready, in_progress or done`, `tasks[2].status is ""`, `tasks[3].status is "Done"`}},
		"enums":                {fileOf(with(parser, `"priority": "", "type": "epic"`), with(runner, `"priority": "unspecified", "type": "unspecified"`)), []string{`tasks[0].priority is ""`, `tasks[0].type is "epic": write feature, bug, refactor, chore or research`, `tasks[1].priority is "unspecified"`, `tasks[1].type is "unspecified"`}},
		"title":                {fileOf(`{"id": "`+parser+`", "title": " \t", "status": "ready"}`, `{"id": "`+runner+`", "title": "", "status": "ready"}`, `{"id": "`+world+`", "title": "`+strings.Repeat("🙂", 101)+`", "status": "ready"}`), []string{"tasks[0].title is white space alone", "tasks[1].title is empty", "tasks[2].title is 101 characters long, 100 are allowed"}},
		"description":          {fileOf(with(parser, `"description": ""`), with(runner, `"description": "  "`), with(world, `"description": "`+strings.Repeat("x", 501)+`"`)), []string{"tasks[0].description is empty: write text, or leave it out", "tasks[1].description is white space alone", "tasks[2].description is 501 characters long, 500 are allowed"}},
		"lists":                {fileOf(with(parser, `"outOfScope": [""], "edgeCases": ["ok", "`+strings.Repeat("x", 301)+`"], "acceptanceCriteria": [`+strings.Repeat(`"x", `, 10)+`"x"]`)), []string{"tasks[0].acceptanceCriteria has 11 items, 10 are allowed", "tasks[0].outOfScope[0] is empty", "tasks[0].edgeCases[1] is 301 characters long, 300 are allowed"}},
		"links":                {fileOf(with(parser, `"links": ["javascript:alert(1)"]`)), []string{`tasks[0].links[0] "javascript:alert(1)" has a scheme that is not allowed`}},
		"NUL":                  {fileOf(with(parser, `"description": "a\u0000b", "history": "a\u0000"`)), []string{"tasks[0].history holds a NUL character at byte 1: remove it", "tasks[0].description holds a NUL character"}},
		"half characters":      {fileOf(with(parser, `"description": "a\ud83d", "history": "\\\udc69 \ud83d\ud83d", "steps": ["\ud83dx", "\ud83d\udc69", "\\ud83d"]`)), []string{`tasks[0].description holds \ud83d, which is half a character: remove it`, `tasks[0].history holds \udc69`, `tasks[0].steps[0] holds \ud83d`}},
		"ids":                  {fileOf(with("T-1"), with(""), with("1b4e28ba"), with("1b4e28ba2fa14d2a883fb9a761bde3fb"), with("{"+parser+"}")), []string{`tasks[0].id is "T-1": write a UUID, as in`, `tasks[1].id is ""`, `tasks[2].id is "1b4e28ba"`, `tasks[3].id is`, `tasks[4].id is`}},
		"an id twice":          {fileOf(with(parser), with(runner), with(strings.ToUpper(parser))), []string{"tasks[2].id repeats tasks[0].id: give each task its own"}},
		"a dependency twice":   {fileOf(with(parser), with(runner, `"dependencyIds": ["`+parser+`", "gone", "`+strings.ToUpper(parser)+`"]`)), []string{"tasks[1].dependencyIds[2] repeats dependencyIds[0]: name each task once"}},
		"itself":               {fileOf(with(clean), with(parser, `"dependencyIds": ["gone", "`+parser+`"]`)), []string{"tasks[1].dependencyIds[1] closes a cycle: tasks[1] " + parser + " → tasks[1] " + parser + "; take one"}},
		"a cycle":              {fileOf(with(clean, `"dependencyIds": ["`+world+`"]`), with(parser, `"dependencyIds": ["`+world+`"]`), with(runner, `"dependencyIds": ["`+parser+`"]`), with(world, `"dependencyIds": ["`+runner+`"]`)), []string{"tasks[1].dependencyIds[0] closes a cycle: tasks[1] " + parser + " → tasks[3] " + world + " → tasks[2] " + runner + " → tasks[1] " + parser}},
		"a cycle and more":     {fileOf(with(parser, `"dependencyIds": ["`+parser+`"], "milestone": ""`)), []string{"tasks[0].milestone is unknown", "tasks[0].dependencyIds[0] closes a cycle"}},
		"a dependency unread":  {fileOf(with(parser), with(runner, `"dependencyIds": ["`+runner+`", 1]`)), []string{"tasks[1].dependencyIds[1] is a number"}},
		"nested beyond reason": {fileOf(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), []string{"the file is no JSON: "}},
	} {
		t.Run(name, func(t *testing.T) {
			_, wrong, cycle := taskfile.Read([]byte(c.file), task.DefaultLimits())
			ok := len(wrong) == len(c.want)
			for i := 0; ok && i < len(c.want); i++ {
				ok = strings.HasPrefix(wrong[i].String(), c.want[i])
			}
			if !ok {
				t.Errorf("it says\n%s\nwant\n%s", told(wrong), strings.Join(c.want, "\n"))
			}
			if strings.Contains(told(wrong), "closes a cycle") != (cycle != nil) {
				t.Errorf("the cycle is %v", cycle)
			}
		})
	}
}

func TestReadTakes(t *testing.T) {
	spaced := ` {"title":"  t\t","status":"done" , "id":"` + strings.ToUpper(parser) + `","steps":[" a "],"links":[],"description":" d ","dependencyIds":["` + strings.ToUpper(runner) + `"]}`
	f := read(t, []byte(fileOf(spaced, with(runner, `"history": "", "dependencyIds": []`), with("123e4567-e89b-12d3-a456-426614174000"))))
	want := &task.Task{ID: parser, Title: "t", Brief: (&task.Brief{Description: "d", Steps: []string{"a"}}).Pack(), Status: task.Done, Dependencies: []string{runner}}
	if got := f.Records[0].Task; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %+v", got, got.Brief)
	}
	if len(f.Records) != 3 || f.Pruned != nil || f.Records[1].Task.Dependencies != nil || f.Records[0].History != nil {
		t.Errorf("%+v", f)
	}

	t.Run("limits of the pool", func(t *testing.T) {
		limits := task.ResolveLimits(task.LimitOptions{"title_length": 1, "history_length": 5}, nil)
		_, wrong, _ := taskfile.Read([]byte(fileOf(with(parser, `"history": "[2026-01-03T00:00:00Z] a longer log takes no more"`), `{"id":"`+runner+`","title":"🙂🙂","status":"ready"}`)), limits)
		if len(wrong) != 1 || wrong[0].Field != "tasks[1].title" {
			t.Errorf("%s", told(wrong))
		}
	})
}

func TestReadPrunes(t *testing.T) {
	gone := "00000000-0000-4000-8000-000000000000"
	f := read(t, []byte(fileOf(
		with(parser, `"dependencyIds": ["`+gone+`", "`+runner+`", "T-2", "", "`+gone+`"]`),
		with(runner, `"dependencyIds": ["`+clean[:8]+`"]`),
		with(clean))))
	want := map[string][]string{parser: {gone, "T-2", "", gone}, runner: {clean[:8]}}
	if !reflect.DeepEqual(f.Pruned, want) {
		t.Errorf("pruned %v, want %v", f.Pruned, want)
	}
	if got := f.Records[0].Task.Dependencies; !reflect.DeepEqual(got, []string{runner}) {
		t.Errorf("left %v", got)
	}
}

// However much is wrong, the answer stays one that can be read.
func TestReadTellsABoundedNumber(t *testing.T) {
	_, wrong, _ := taskfile.Read([]byte(fileOf(strings.Repeat(`{}, `, 999)+`{}`)), task.DefaultLimits())
	if len(wrong) != 101 || wrong[100].String() != "tasks has 2900 more problems: put these right first" {
		t.Errorf("%d problems, the last is %s", len(wrong), wrong[len(wrong)-1])
	}
	ring := make([]string, 1000)
	for i := range ring {
		ring[i] = with(numbered(i), `"dependencyIds": ["`+numbered((i+1)%1000)+`"]`)
	}
	_, wrong, cycle := taskfile.Read([]byte(fileOf(ring...)), task.DefaultLimits())
	if len(wrong) != 1 || len(cycle) != 1001 || len(wrong[0].Description) > 1000 || !strings.Contains(wrong[0].Description, "… 991 more … → tasks[0] "+numbered(0)) {
		t.Errorf("%d problems, a cycle of %d: %s", len(wrong), len(cycle), told(wrong))
	}
	ring = ring[:10]
	ring[9] = with(numbered(9), `"dependencyIds": ["`+numbered(0)+`"]`)
	if _, wrong, _ = taskfile.Read([]byte(fileOf(ring...)), task.DefaultLimits()); strings.Count(wrong[0].Description, "→") != 10 || strings.Contains(wrong[0].Description, "more") {
		t.Errorf("a short cycle is not told whole: %s", told(wrong))
	}
}

func numbered(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// The pool could not close a task that more depend on than it allows.
func TestReadHoldsEdgesToLimits(t *testing.T) {
	limits := task.ResolveLimits(task.LimitOptions{"dependencies": 2, "dependents": 1}, nil)
	_, wrong, _ := taskfile.Read([]byte(fileOf(
		with(parser), with(runner),
		with(world, `"dependencyIds": ["`+parser+`", "`+runner+`", "gone"]`),
		with(clean, `"dependencyIds": ["`+parser+`", "`+runner+`", "`+world+`"]`))), limits)
	if got, want := told(wrong), "tasks[3].dependencyIds has 3 items, 2 are allowed: leave out 1\n"+
		"tasks[0] is what 2 tasks depend on, 1 are allowed: take some of those dependencies out\n"+
		"tasks[1] is what 2 tasks depend on, 1 are allowed: take some of those dependencies out"; got != want {
		t.Errorf("it says\n%s", got)
	}
}

package drafts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/jsonl"
)

func show(drafts []Draft) string {
	var b strings.Builder
	for _, d := range drafts {
		fmt.Fprintf(&b, "%d:%s:%s ", d.Line, d.Task.GetRef(), d.Task.GetTitle())
	}
	return strings.TrimSpace(b.String())
}

func TestReadKeepsOrderAndLines(t *testing.T) {
	a, b := `{"ref": "a", "title": "A"}`, `{"ref": "b", "title": "B\nb", "dependencyIds": ["ref:a"], "priority": "TASK_PRIORITY_HIGH"}`
	for name, c := range map[string]struct{ text, want string }{
		"lines":                {a + "\n" + b + "\n", "1:a:A 2:b:B\nb"},
		"no line end":          {a + "\n" + b, "1:a:A 2:b:B\nb"},
		"CR LF":                {a + "\r\n" + b + "\r\n", "1:a:A 2:b:B\nb"},
		"CR":                   {a + "\r" + b + "\r", "1:a:A 2:b:B\nb"},
		"byte order mark":      {"\ufeff" + a + "\n" + b, "1:a:A 2:b:B\nb"},
		"blank lines":          {"\n \t\n" + a + "\n\r\n\n" + b + "\n\n", "3:a:A 6:b:B\nb"},
		"array":                {"[" + a + "," + b + "]", "1:a:A 1:b:B\nb"},
		"array over lines":     {"\n[\n" + a + ",\n\n" + b + "\n]\n", "3:a:A 5:b:B\nb"},
		"array, CR":            {"[\r" + a + ",\r" + b + "]", "2:a:A 3:b:B\nb"},
		"array, indented":      {"[\n  {\n    \"title\": \"x\"\n  },\n  {\n    \"title\": \"y\"\n  }\n]", "2::x 5::y"},
		"names of either kind": {`{"title":"x","acceptance_criteria":["a"],"outOfScope":["b"],"contract":{"max_attempts":2,"validation":[{"run":"make"}]}}`, "1::x"},
	} {
		drafts, err := Read(strings.NewReader(c.text))
		if err != nil || show(drafts) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, show(drafts), err, c.want)
		}
	}
}

func TestReadTellsAllThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", "there is no task in it: write one NewTask message as JSON on each line"},
		"blank":          {"\n \r\n", "there is no task in it: write one NewTask message as JSON on each line"},
		"empty array":    {"[]", "there is no task in it: write one NewTask message as JSON on each line"},
		"unknown fields": {"{\"title\": \"a\"}\r\n\r\n{\"titel\": \"b\", \"zzz\": 1}\n{\"dependencies_id\": []}", "line 3: there is no field \"titel\" (did you mean \"title\"?); there is no field \"zzz\"\nline 4: there is no field \"dependencies_id\""},
		"unknown below":  {`{"title":"a","contract":{"validation":[{"run":"x"},{"rnu":"x"}],"agnt":""}}`, `line 1: there is no field "contract.agnt" (did you mean "agent"?); there is no field "contract.validation[1].rnu" (did you mean "run"?)`},
		"no object":      {"\"title\"\nnull\n{\"title\": \"a\"}", "line 1: is no task: a task is a JSON object, {\"title\": …}\nline 2: is no task: a task is a JSON object, {\"title\": …}"},
		"no JSON":        {`{"title": "a"`, "line 1: is no task: unexpected EOF"},
		"wrong type":     {`{"title": 7}`, "line 1: is no task: invalid value for string field title: 7 (column 11)"},
		"unknown enum":   {`{"title": "a", "priority": "high"}`, `line 1: is no task: invalid value for enum field priority: "high" (column 28)`},
		"twice":          {`{"title": "a", "title": "b"}`, `line 1: is no task: duplicate field "title" (column 16)`},
		"no UTF-8":       {"{\"title\": \"a\xff\"}", "line 1: is no task: invalid UTF-8 in string (column 11)"},
		"array not shut": {"[{\"title\": \"a\"},\n{\"title\": \"b\"}\n\n", "line 2: the array is not closed: it needs a ] at its end"},
		"array and more": {"[{\"title\": \"a\"}]\n{\"title\": \"b\"}", "line 2: there is more after the end of the array"},
		"array broken":   {"[{\"title\": \"a\"},\n{\"title\" \"b\"}]", "line 2: is no JSON: invalid character '\"' after object key"},
	} {
		drafts, err := Read(strings.NewReader(c.text))
		if drafts != nil || err == nil {
			t.Errorf("%s: read %q", name, show(drafts))
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, err, c.want)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	_, err := Read(strings.NewReader(strings.Repeat("{\"x\":1}\n", 50)))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != jsonl.Shown+1 || lines[jsonl.Shown] != "and 30 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestReadPassesOnWhatItsReaderSays(t *testing.T) {
	broken := errors.New("the disk is gone")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Boards of real teams: TASKPOOL_TEST_BOARDS names their folder.
func TestReadBoards(t *testing.T) {
	folder := os.Getenv("TASKPOOL_TEST_BOARDS")
	if folder == "" {
		t.Skip("TASKPOOL_TEST_BOARDS is not set")
	}
	file, err := os.Open(filepath.Join(folder, "board.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	drafts, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	dependencies := 0
	for _, d := range drafts {
		dependencies += len(d.Task.GetDependencyIds())
	}
	if len(drafts) != 706 || dependencies != 549 {
		t.Errorf("%d tasks with %d dependencies", len(drafts), dependencies)
	}
}

func FuzzReadDrafts(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "\ufeff{\"title\":\"a\"}\r\n\r\n{\"ref\":\"b\"}", "[{\"title\":\"a\"},{}]", "[", "[{]", "{\"contract\":{\"validation\":[{}]}}",
		"{\"title\":\"\\ud83d\"}", "{\"labels\":{\"a\":\"b\"}}", "{\"not_before\":\"2026-01-02T03:04:05Z\"}", "null", "{\"title\":\"a\"} x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		drafts, err := Read(bytes.NewReader(text))
		if (err == nil) != (len(drafts) > 0) {
			t.Fatalf("%d drafts and %v", len(drafts), err)
		}
		// Line ends and the mark make no difference.
		lf := normal(text)
		if !bytes.HasPrefix(lf, []byte("\xef\xbb\xbf")) {
			for _, end := range []string{"\n", "\r\n", "\r"} {
				again, failed := Read(strings.NewReader("\ufeff" + strings.ReplaceAll(string(lf), "\n", end)))
				if fmt.Sprint(err) != fmt.Sprint(failed) || !same(drafts, again) {
					t.Fatalf("with %q: %v, %v instead of %v, %v", end, show(again), failed, show(drafts), err)
				}
			}
		}
		if err != nil {
			return
		}
		// What was read can be written and read again, as lines and as an array.
		var encoded []json.RawMessage
		for _, d := range drafts {
			one, err := protojson.Marshal(d.Task)
			if err != nil {
				t.Fatal(err)
			}
			encoded = append(encoded, one)
		}
		array, err := json.Marshal(encoded)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(array))
		if err != nil || len(again) != len(drafts) {
			t.Fatalf("again: %v", err)
		}
		for i := range again {
			if !proto.Equal(again[i].Task, drafts[i].Task) {
				t.Fatalf("again: %v instead of %v", again[i].Task, drafts[i].Task)
			}
		}
	})
}

func same(a, b []Draft) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Line != b[i].Line || !proto.Equal(a[i].Task, b[i].Task) {
			return false
		}
	}
	return true
}

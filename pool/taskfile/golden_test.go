package taskfile_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// The ids of testdata/tasks.json.
const (
	parser = "1b4e28ba-2fa1-4d2a-883f-b9a761bde3fb"
	runner = "9c858901-8a57-4791-81fe-4c455b099bc9"
	world  = "16fd2706-8baf-433b-82eb-8c7fada847da"
	clean  = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
)

func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/tasks.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// read reads what has to be good.
func read(t testing.TB, data []byte) taskfile.File {
	t.Helper()
	f, wrong, _ := taskfile.Read(data, task.DefaultLimits())
	if wrong != nil {
		t.Fatalf("refused: %s", wrong.Error())
	}
	return f
}

func write(t testing.TB, f taskfile.File) []byte {
	t.Helper()
	var w taskfile.Writer
	var out bytes.Buffer
	for _, r := range f.Records {
		piece, err := w.Record(r)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(piece)
	}
	out.Write(w.End())
	return out.Bytes()
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestGolden(t *testing.T) {
	f := read(t, golden(t))
	want := taskfile.File{Records: []taskfile.Record{
		{
			Task: &task.Task{
				ID: parser, Title: "Write the parser", Priority: task.High, Type: task.Feature, Status: task.Done,
				Brief: (&task.Brief{
					Description:        "Read a plan & say what is wrong with it: <all> of it.",
					AcceptanceCriteria: []string{"every field is checked", "every problem has a path"},
					Links:              []string{"https://example.com/plan?a=1&b=2"},
					Steps:              []string{"read it", "check it"}, Constraints: []string{"no panic"},
					OutOfScope: []string{"running it"}, Verification: []string{"go test ./..."},
					Context: []string{`plans are "JSON"`}, EdgeCases: []string{"an empty file", "漢字 and 👩‍👩‍👧‍👦"},
				}).Pack(),
			},
			History: []taskfile.Entry{
				{At: at("2026-01-02T03:04:05.678Z"), Text: "begun"},
				{At: at("2026-01-02T04:00:00Z"), Text: `done: all "green"`},
			},
		},
		{
			Task:    &task.Task{ID: runner, Title: "Write the runner", Status: task.InProgress, Dependencies: []string{parser}},
			History: []taskfile.Entry{{At: at("2026-01-03T00:00:00.001Z"), Text: "begun"}},
		},
		{Task: &task.Task{ID: world, Title: "Tell the world", Priority: task.Low, Status: task.Pending, Dependencies: []string{parser, runner}}},
		{Task: &task.Task{ID: clean, Title: "Clean up", Type: task.Chore, Status: task.Ready}},
	}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("it says %+v", f)
		for i := range f.Records {
			t.Logf("%d: %+v %+v %+v", i, f.Records[i].Task, f.Records[i].Task.Brief, f.Records[i].History)
		}
	}
	if got := write(t, f); !bytes.Equal(got, golden(t)) {
		t.Errorf("written again it is\n%s", got)
	}
}

func TestWriteNoTasks(t *testing.T) {
	if got := string(write(t, taskfile.File{})); got != "{\n  \"tasks\": []\n}\n" {
		t.Errorf("%q", got)
	}
}

// How the file came over the wire or through an editor makes no difference.
func TestReadWhateverTheLinesEndIn(t *testing.T) {
	lf := string(golden(t))
	want := read(t, []byte(lf))
	for name, data := range map[string]string{
		"CRLF":              strings.ReplaceAll(lf, "\n", "\r\n"),
		"CR":                strings.ReplaceAll(lf, "\n", "\r"),
		"byte order mark":   "\ufeff" + lf,
		"mark and CRLF":     "\ufeff" + strings.ReplaceAll(lf, "\n", "\r\n"),
		"in one line":       strings.ReplaceAll(lf, "\n", ""),
		"white space after": lf + " \r\n\t\n",
		"escaped":           strings.ReplaceAll(strings.ReplaceAll(lf, "漢", `\u6f22`), "👩", `\ud83d\udc69`),
		"history with CRLF": strings.ReplaceAll(lf, `\n[`, `\r\n[`),
		"history with CR":   strings.ReplaceAll(lf, `\n[`, `\r[`),
	} {
		if got := read(t, []byte(data)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it says something else", name)
		}
	}
}

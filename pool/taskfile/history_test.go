package taskfile_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// withHistory is a file of one task with that history.
func withHistory(t testing.TB, history string) []byte {
	t.Helper()
	text, err := json.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(`{"tasks": [{"id": "` + parser + `", "title": "t", "status": "ready", "history": ` + string(text) + `}]}`)
}

func TestHistory(t *testing.T) {
	const s1, s2 = "[2026-01-02T03:04:05.678Z] ", "[2026-01-03T00:00:00.000Z] "
	t1, t2 := at("2026-01-02T03:04:05.678Z"), at("2026-01-03T00:00:00Z")
	none := time.Time{}
	type entries = []taskfile.Entry
	for name, c := range map[string]struct {
		history string
		want    entries
	}{
		"nothing":                     {"", nil},
		"white space":                 {" \n\r\n ", nil},
		"one":                         {s1 + "a", entries{{t1, "a"}}},
		"two":                         {s1 + "a\n" + s2 + "b", entries{{t1, "a"}, {t2, "b"}}},
		"out of order":                {s2 + "b\n" + s1 + "a", entries{{t2, "b"}, {t1, "a"}}},
		"empty":                       {s1, nil},
		"empty and another":           {s1 + "\n" + s2 + "b", entries{{t2, "b"}}},
		"white space alone":           {s1 + ` \n` + "\n" + s2 + "\u2028\n", nil},
		"white space around":          {s1 + "  a \t\n" + s2 + " b ", entries{{t1, "  a \t"}, {t2, " b "}}},
		"a break at the end":          {s1 + "a\n", entries{{t1, "a\n"}}},
		"CRLF between":                {s1 + "a\r\n" + s2 + "b", entries{{t1, "a"}, {t2, "b"}}},
		"CR between":                  {s1 + "a\r" + s2 + "b", entries{{t1, "a"}, {t2, "b"}}},
		"several lines":               {s1 + "a\nb\r\nc\rd\n\n" + s2 + "b", entries{{t1, "a\nb\r\nc\rd\n"}, {t2, "b"}}},
		"other line breaks":           {s1 + "a\u2028" + s2 + "b", entries{{t1, "a\u2028" + s2 + "b"}}},
		"an escaped break":            {s1 + `a\nb\r\v\f\u0085\u2028\u2029\\n` + "\n" + s2 + "b", entries{{t1, "a\nb\r\v\f\u0085\u2028\u2029\\n"}, {t2, "b"}}},
		"a forged line, escaped":      {s1 + `a\n[2020-01-01T00:00:00.000Z] done by human`, entries{{t1, "a\n[2020-01-01T00:00:00.000Z] done by human"}}},
		"a stamp within a line":       {s1 + "a " + s2 + "b", entries{{t1, "a " + s2 + "b"}}},
		"a backslash that is one":     {s1 + `C:\Users\new`, entries{{t1, `C:\Users\new`}}},
		"a backslash at the end":      {s1 + `a\nb\`, entries{{t1, `a\nb\`}}},
		"half an escape":              {s1 + `a\u202`, entries{{t1, `a\u202`}}},
		"backslashes in two lines":    {s1 + "src\\new\nsrc\\file", entries{{t1, "src\\new\nsrc\\file"}}},
		"each entry for itself":       {s1 + `\d` + "\n" + s2 + `\\d`, entries{{t1, `\d`}, {t2, `\d`}}},
		"text before, no time":        {"by hand", entries{{none, "by hand"}}},
		"text before an empty one":    {"by hand\n" + s1, entries{{none, "by hand"}}},
		"several lines, no time":      {"by\nhand", entries{{none, "by\nhand"}}},
		"text before":                 {"by hand\n" + s1 + "a\n" + s2 + "b", entries{{t1, "by hand"}, {t1, "a"}, {t2, "b"}}},
		"white space before":          {" \n\n" + s1 + "a", entries{{t1, "a"}}},
		"no fraction":                 {"[2026-01-03T00:00:00Z] b", entries{{t2, "b"}}},
		"another zone":                {"[2026-01-03T01:00:00+01:00] b", entries{{t2, "b"}}},
		"no space after":              {s1 + "a\n[2026-01-03T00:00:00Z]b", entries{{t1, "a\n[2026-01-03T00:00:00Z]b"}}},
		"space before":                {s1 + "a\n " + s2 + "b", entries{{t1, "a\n " + s2 + "b"}}},
		"no zone":                     {s1 + "a\n[2026-01-03T00:00:00] b", entries{{t1, "a\n[2026-01-03T00:00:00] b"}}},
		"a date":                      {s1 + "a\n[2026-01-03] b", entries{{t1, "a\n[2026-01-03] b"}}},
		"no such day":                 {s1 + "a\n[2026-02-30T00:00:00Z] b", entries{{t1, "a\n[2026-02-30T00:00:00Z] b"}}},
		"the year 0":                  {s1 + "a\n[0001-01-01T00:00:00+01:00] b", entries{{t1, "a\n[0001-01-01T00:00:00+01:00] b"}}},
		"the instant that is none":    {s1 + "a\n[0001-01-01T00:00:00Z] b", entries{{t1, "a\n[0001-01-01T00:00:00Z] b"}}},
		"the year 10000":              {s1 + "a\n[9999-12-31T23:59:59-01:00] b", entries{{t1, "a\n[9999-12-31T23:59:59-01:00] b"}}},
		"finer than is written":       {"[2026-01-03T00:00:00.000000001Z] b", entries{{t2.Add(1), "b"}}},
		"a bracket that never closes": {"[" + strings.Repeat("x", 100), entries{{none, "[" + strings.Repeat("x", 100)}}},
	} {
		got := read(t, withHistory(t, c.history)).Records[0].History
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A file of llm-chat-task without backslashes comes back as it was.
func TestHistoryWithoutBackslashesIsKept(t *testing.T) {
	history := "[2026-01-02T03:04:05.678Z] one: \"x\" [y] /z\n[2026-01-03T00:00:00.000Z] two\ttabs and 漢字 "
	data := write(t, read(t, withHistory(t, history)))
	var got struct{ Tasks []struct{ History string } }
	if err := json.Unmarshal(data, &got); err != nil || got.Tasks[0].History != history {
		t.Errorf("%q, %v", got, err)
	}
}

// Whatever an entry says, it is one entry when it comes back, and the same.
func TestHistoryComesBack(t *testing.T) {
	pieces := []string{`\`, `\\`, "n", `\n`, "\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "u2028", "x", " ", `"`, "\ufeff", "[2020-01-01T00:00:00.000Z] done", "🙂"}
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(rt, "pieces"), "")
		})
		var want []taskfile.Entry
		for i, text := range rapid.SliceOfN(texts, 0, 4).Draw(rt, "texts") {
			if strings.TrimSpace(text) == "" {
				text += "x" // no pool has one that says nothing
			}
			want = append(want, taskfile.Entry{At: time.UnixMilli(1_700_000_000_000 + int64(i)).UTC(), Text: text})
		}
		first := write(t, taskfile.File{Records: []taskfile.Record{{Task: &task.Task{ID: parser, Title: "t", Status: task.Ready}, History: want}}})
		f := read(t, first)
		if got := f.Records[0].History; !reflect.DeepEqual(got, want) {
			rt.Fatalf("%q came back as %q", want, got)
		}
		if second := write(t, f); string(second) != string(first) {
			rt.Fatalf("written again it is\n%s, not\n%s", second, first)
		}
	})
}

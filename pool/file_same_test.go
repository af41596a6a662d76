package pool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// holdable writes what a file holds of a pool.
func (f *fixture) holdable() string {
	f.t.Helper()
	var b strings.Builder
	for _, t := range f.all() {
		d := f.get(t.ID)
		fmt.Fprintf(&b, "%s %q %s %s %s %v %+v\n", t.ID, t.Title, t.Priority, t.Type, t.Status, t.Dependencies, *t.Brief.Unpack())
		for _, e := range d.History() {
			fmt.Fprintf(&b, "  %s %q\n", e.At.UTC().Truncate(time.Millisecond), e.Body)
		}
	}
	return b.String()
}

// Any pool that a file can hold comes back from it, and is saved as the same
// bytes.
func TestSave_andLoadFileLoseNothing(t *testing.T) {
	text := rapid.Custom(func(rt *rapid.T) string {
		pieces := []string{"a", "b", "\n", "\r\n", `\`, `\n`, " ", `"`, "<", "\u2028", "漢", "🙂", "[2020-01-01T00:00:00.000Z] ", "\t", "\x1b"}
		return "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 5).Draw(rt, "pieces"), "") + "y"
	})
	texts := rapid.SliceOfN(text, 0, 3)
	rapid.Check(t, func(rt *rapid.T) {
		f, path := open(t), tasksJSON(t)
		var ids []string
		for range rapid.IntRange(0, 6).Draw(rt, "tasks") {
			d := task.Draft{
				Title: text.Draw(rt, "title"), Priority: task.Priority(rapid.IntRange(0, 3).Draw(rt, "priority")), Type: task.Type(rapid.IntRange(0, 5).Draw(rt, "type")),
				AcceptanceCriteria: texts.Draw(rt, "acceptance criteria"), Steps: texts.Draw(rt, "steps"), Constraints: texts.Draw(rt, "constraints"),
				OutOfScope: texts.Draw(rt, "out of scope"), Verification: texts.Draw(rt, "verification"), Context: texts.Draw(rt, "context"), EdgeCases: texts.Draw(rt, "edge cases"),
				Links: rapid.SliceOfN(rapid.SampledFrom([]string{"https://example.com/a?b=c&d", "mailto:a@example.com"}), 0, 2).Draw(rt, "links"),
			}
			if rapid.Bool().Draw(rt, "described") {
				d.Description = text.Draw(rt, "description")
			}
			if len(ids) > 0 {
				d.Dependencies = rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, 3, rapid.ID).Draw(rt, "dependencies")
			}
			ids = append(ids, f.create(d).ID)
		}
		for range rapid.IntRange(0, 12).Draw(rt, "changes") {
			if len(ids) == 0 {
				break
			}
			p := task.Patch{}
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
				p.HistoryEntry = new(text.Draw(rt, "entry"))
			case 1:
				p.AddDependencies = []string{rapid.SampledFrom(ids).Draw(rt, "dependency")}
			default:
				p.Status = new(rapid.SampledFrom([]task.Status{task.InProgress, task.Done, task.Ready}).Draw(rt, "status"))
			}
			_, _ = f.as(operator).update(rapid.SampledFrom(ids).Draw(rt, "task"), p) // refused is fine
		}
		before := f.holdable()
		first := f.saved(path)
		g := open(t)
		g.titled("replaced")
		if report := g.loaded(path); report.Tasks != len(ids) || report.Pruned != nil {
			rt.Fatalf("%+v", report)
		}
		if after := g.holdable(); after != before {
			rt.Fatalf("it was\n%s\nand is\n%s", before, after)
		}
		if second := g.saved(path); second != first {
			rt.Fatalf("it was saved as\n%s\nand then as\n%s", first, second)
		}
	})
}

// FuzzLoadFile loads any bytes: it is refused, which changes nothing, or taken,
// when it is a sound pool, also when it is opened again, that can be exported and
// restored, and is saved and loaded as the same. Bytes that begin with an even one are a file as they are; of
// others one is made that is nearly right.
func FuzzLoadFile(f *testing.F) {
	f.Add(append([]byte{0}, contents(f, theFile)...))
	f.Add([]byte("\x00\ufeff{\"tasks\": []}"))
	for i := range uint64(200) { // a few of everything
		rnd := rand.New(rand.NewPCG(i, 7))
		seed := make([]byte, 1+rnd.IntN(40))
		for k := range seed {
			seed[k] = byte(rnd.Uint32())
		}
		seed[0] |= 1
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		text := data[1:]
		if data[0]%2 == 1 {
			text = (&weird{data: text}).file()
		}
		s := memory.New()
		defer s.Close()
		p, closeAll := openDefault(t, s)
		defer func() { closeAll() }()
		path := asFile(t, string(text))
		before := p.Cursor()
		report, err := p.LoadFile(t.Context(), pool.Request{Actor: operator}, path)
		if err != nil {
			if !errors.As(err, new(*pool.InvalidError)) && !errors.As(err, new(*pool.RuleError)) {
				t.Fatalf("refused with %T: %v", err, err)
			}
			if p.Cursor() != before {
				t.Fatal("a refusal changed the pool")
			}
			return
		}
		sound(t, p, report)
		closeAll()
		p, closeAll = openDefault(t, s)
		sound(t, p, report)
		if _, err := open(t).restore(records(t, p)); err != nil {
			t.Fatalf("an export of it is refused: %v", err)
		}
		if err := p.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		first := contents(t, path)
		was := (&fixture{Pool: p, t: t}).holdable()
		if _, err := p.LoadFile(t.Context(), pool.Request{Actor: operator}, path); err != nil {
			t.Fatalf("what was saved is refused: %v\n%s", err, first)
		}
		if now := (&fixture{Pool: p, t: t}).holdable(); now != was {
			t.Fatalf("it was\n%s\nand is\n%s", was, now)
		}
		if err := p.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if second := contents(t, path); second != first {
			t.Fatalf("saved\n%s\nthen\n%s", first, second)
		}
	})
}

// openDefault opens the default pool.
func openDefault(t *testing.T, s *memory.Store) (*pool.Pool, func()) {
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return p, func() { release(); r.Close() }
}

func sound(t *testing.T, p *pool.Pool, report pool.LoadReport) {
	t.Helper()
	if wrong := p.Unsound(); wrong != "" {
		t.Fatal(wrong)
	}
	if got := len(listed(t, p, operator, pool.Filter{IncludeClosed: true})); got != report.Tasks || p.Cursor() != report.Cursor {
		t.Fatalf("%d tasks at %v, of %+v", got, p.Cursor(), report)
	}
}

// file makes a task file of bytes, nearly right.
func (w *weird) file() []byte {
	var tasks []map[string]any
	for len(w.data) > 0 && len(tasks) < 50 {
		x := map[string]any{"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", len(tasks)), "title": "t"}
		x["status"] = pick(w, "ready", "pending", "in_progress", "done")
		x["dependencyIds"] = w.earlier(len(tasks))
		switch w.next() % 16 {
		case 0:
			x["history"] = w.history()
		case 1:
			x[pick(w, "priority", "type", "description", "title", "status", "id")] = pick[any](w, "high", "bug", "", nil, 1, " ", w.id())
		case 2:
			x[pick(w, "steps", "links", "edgeCases", "milestone", "dependencyIds")] = pick[any](w, []string{}, []string{"a"}, []any{nil}, "a", []string{"https://example.com"})
		case 3:
			delete(x, pick(w, "id", "title", "status", "dependencyIds"))
		}
		tasks = append(tasks, x)
	}
	data, err := json.Marshal(map[string]any{"tasks": slices.Clip(tasks)})
	if err != nil {
		panic(err)
	}
	return data
}

// earlier are dependencies of the nth task, most of them on tasks before it.
func (w *weird) earlier(n int) []string {
	ids := []string{}
	for range w.next() % 3 {
		id := w.id()
		if k := w.next(); n > 0 && k%32 != 0 {
			id = fmt.Sprintf("00000000-0000-4000-8000-%012d", k%n)
		}
		if !slices.Contains(ids, id) || w.next()%32 == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

func pick[T any](w *weird, from ...T) T { return from[w.next()%len(from)] }

func (w *weird) history() string {
	var b strings.Builder
	for range w.next() % 8 {
		b.WriteString(pick(w, "[2026-01-02T03:04:05.678Z] ", "[2026-01-02T03:04:05.123456789+01:00] ", "\n", "\r", `\n`, `\`, "x", "[0001-01-01T00:00:00Z] ", "\u2028", "\x00"))
	}
	return b.String()
}

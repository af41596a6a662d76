package pool_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// records are what an export of the pool gives, encoded.
func records(t testing.TB, p *pool.Pool) [][]byte {
	t.Helper()
	var all [][]byte
	for r := range p.Export().Records() {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(taskpb.Record(r))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// shown are records as text, for people.
func shown(t testing.TB, all [][]byte) string {
	t.Helper()
	var b strings.Builder
	for _, one := range all {
		b.WriteString(protojson.Format(message(t, one)))
		b.WriteByte('\n')
	}
	return b.String()
}

func message(t testing.TB, record []byte) *taskpoolv1.PoolRecord {
	t.Helper()
	var m taskpoolv1.PoolRecord
	if err := proto.Unmarshal(record, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

// edited is records with some of their messages changed; one that becomes nil is
// left out.
func edited(t testing.TB, all [][]byte, change func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord) [][]byte {
	t.Helper()
	var out [][]byte
	for i, one := range all {
		m := change(i, message(t, one))
		if m == nil {
			continue
		}
		b, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// take imports records.
func take(t testing.TB, p *pool.Pool, r pool.Request, mode pool.ImportMode, all [][]byte) (pool.ImportResult, error) {
	t.Helper()
	m, err := p.Import(r.Actor, mode)
	if err != nil {
		return pool.ImportResult{}, err
	}
	for _, one := range all {
		read, wrong, err := taskpb.ReadRecord(message(t, one))
		var found *taskpb.LaterError
		var later *pool.LaterError
		if errors.As(err, &found) {
			later = &pool.LaterError{Feature: found.Feature, Field: found.Field}
		}
		if err := m.Add(read, wrong, later); err != nil {
			return pool.ImportResult{}, err
		}
	}
	return m.Run(t.Context(), r)
}

func (f *fixture) restore(all [][]byte) (pool.ImportResult, error) {
	f.t.Helper()
	return take(f.t, f.Pool, pool.Request{Actor: operator}, pool.ImportRestore, all)
}

func (f *fixture) merge(all [][]byte) (pool.ImportResult, error) {
	f.t.Helper()
	return take(f.t, f.Pool, f.request(), pool.ImportMerge, all)
}

// mustMerge merges what has to come in to that extent.
func (f *fixture) mustMerge(all [][]byte, created, unchanged, refused int) pool.ImportResult {
	f.t.Helper()
	r, err := f.merge(all)
	if err != nil {
		f.t.Fatalf("merge: %v", err)
	}
	if r.Created != created || r.Unchanged != unchanged || r.RefusedCount != refused {
		f.t.Fatalf("created %d, unchanged %d, refused %d (%+v), want %d, %d, %d", r.Created, r.Unchanged, r.RefusedCount, r.Refused, created, unchanged, refused)
	}
	if wrong := f.Unsound(); wrong != "" {
		f.t.Fatal(wrong)
	}
	return r
}

// sameRecords compares two exports.
func sameRecords(t testing.TB, what string, got, want [][]byte) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal[[]byte]) {
		sameState(t, what, shown(t, want), shown(t, got))
		t.Fatalf("%s: the same messages in other bytes", what)
	}
}

// story is a pool in which something of everything has happened.
func story(t testing.TB) *fixture {
	t.Helper()
	f := open(t)
	f.actor = filer
	all := f.createAll(
		task.Draft{Title: "design", Ref: "design", Body: "long\n", Labels: map[string]string{"team": "web"}, Priority: task.High, Links: []string{"https://example.com"}},
		task.Draft{Title: "build", Dependencies: []string{"ref:design"}, Ref: "build", Parent: "ref:epic"},
		task.Draft{Title: "epic", Ref: "epic", Dependencies: []string{"ref:design"}},
		task.Draft{Title: "later", NotBefore: farOff, Type: task.Bug, DiscoveredFrom: "ref:design"},
		task.Draft{Title: "given up"},
		task.Draft{Title: "stuck"},
		task.Draft{Title: "gone"},
		task.Draft{Title: "held", Parent: "ref:epic"},
	)
	f.mustUpdate("T-6", task.Patch{AddDependencies: []string{"T-5"}})
	f.as(worker).claim("T-1")
	f.as(worker).mustUpdate("T-1", task.Patch{HistoryEntry: new("half\nway"), Status: new(task.Done)})
	f.set("T-5", task.Cancelled)
	f.mustUpdate("T-6", task.Patch{RemoveDependencies: []string{"T-5"}, Status: new(task.Blocked), Reason: "waits for a key"})
	f.as(worker).claim("T-8")
	f.as(worker).mustUpdate("T-8", task.Patch{HistoryEntry: new("begun")})
	f.mustUpdate("T-2", task.Patch{Assignee: new(stranger), Title: new("build it"), SetLabels: map[string]string{"a": "b"}})
	f.delete(all[6].ID)
	f.titled("last")
	f.delete("T-9")
	return f
}

package pool_test

import (
	"bytes"
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// fixed are the records of the story, with the same ids in every run, and without
// their number, which would be wrong where a test changes any.
func fixed(t testing.TB) [][]byte {
	t.Helper()
	f := story(t)
	all := edited(t, records(t, f.Pool), func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		m.Extent = nil
		return m
	})
	for i, one := range f.all() {
		for k := range all {
			all[k] = bytes.ReplaceAll(all[k], []byte(one.ID), []byte(id(i)))
		}
	}
	return all
}

// counted are records whose first, where it is a pool, tells how many there are.
func counted(t testing.TB, all [][]byte) [][]byte {
	t.Helper()
	x := &taskpoolv1.PoolExtent{}
	for _, one := range all {
		m := message(t, one)
		if it := m.GetTask(); it != nil {
			x.Tasks++
			if ref, _ := task.ParseReference(it.GetKey()); ref.Kind == task.ReferenceKey {
				x.LastTaskNumber = max(x.LastTaskNumber, ref.Number)
			}
		}
		if m.GetEvent() != nil {
			x.Events++
			x.LastEventId = max(x.LastEventId, m.GetEvent().GetId())
		}
	}
	return edited(t, all, func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if i == 0 && m.GetPool() != nil && m.Extent == nil {
			m.Extent = x
		}
		return m
	})
}

// takeBytes imports records into a pool of its own that has had.
func takeBytes(t *testing.T, mode pool.ImportMode, had, all [][]byte) (*pool.Pool, pool.ImportResult, error) {
	t.Helper()
	s := memory.New()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); _ = s.Close() })
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	if had != nil {
		if _, err := take(t, p, pool.Request{Actor: operator}, pool.ImportRestore, counted(t, had)); err != nil {
			t.Fatal(err)
		}
	}
	if mode == pool.ImportRestore {
		all = counted(t, all)
	}
	before := p.State()
	result, err := take(t, p, pool.Request{Actor: operator}, mode, all)
	if err != nil && p.State() != before {
		t.Fatalf("refused, and changed: %v", err)
	}
	if reason := reasonOf(err); reason != "" && reason != "INVALID_FIELD" && reason != "NOT_AVAILABLE_YET" {
		t.Fatalf("it is no refusal: %T, %v", err, err)
	}
	return p, result, err
}

// Whatever one record of an export is made into, and whatever else comes behind
// it: an import refuses it or leaves a pool that holds together, that can be
// exported and restored, and that importing again does not change.
func FuzzImport(f *testing.F) {
	all := fixed(f)
	for i, one := range all {
		f.Add(uint8(i), one, []byte(nil))
		f.Add(uint8(i), []byte(nil), one)
	}
	f.Fuzz(func(t *testing.T, at uint8, instead, behind []byte) {
		records := append([][]byte(nil), all...)
		for _, b := range [][]byte{instead, behind} {
			if proto.Unmarshal(b, &taskpoolv1.PoolRecord{}) != nil {
				return // gRPC refuses it
			}
		}
		records[int(at)%len(records)] = instead
		if behind != nil {
			records = append(records, behind)
		}
		for _, mode := range []pool.ImportMode{pool.ImportRestore, pool.ImportMerge} {
			for _, had := range [][][]byte{nil, all} {
				if mode == pool.ImportRestore && had != nil {
					continue
				}
				p, result, err := takeBytes(t, mode, had, records)
				if err != nil {
					continue
				}
				holdsTogether(t, p)
				if mode == pool.ImportRestore {
					continue
				}
				state := p.State()
				again, err := take(t, p, pool.Request{Actor: operator}, mode, records)
				if err != nil || again.Created > 0 || again.Unchanged != result.Created+result.Unchanged || again.RefusedCount != result.RefusedCount || p.State() != state {
					t.Fatalf("again: %+v, %v, after %+v", again, err, result)
				}
			}
		}
	})
}

// holdsTogether checks a pool that took something in.
func holdsTogether(t *testing.T, p *pool.Pool) {
	t.Helper()
	if wrong := p.Unsound(); wrong != "" {
		t.Fatal(wrong)
	}
	exported := records(t, p)
	copied, _, err := takeBytes(t, pool.ImportRestore, nil, exported)
	if err != nil {
		t.Fatalf("what it exports can't be restored: %v", err)
	}
	sameRecords(t, "restored", records(t, copied), exported)
	page, err := p.List(context.Background(), operator, pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range page.Tasks {
		if _, err := p.Update(t.Context(), pool.Request{Actor: operator}, pool.Update{ID: it.ID, Patch: task.Patch{}}); err != nil {
			t.Fatalf("%s can't be used: %v", it.Key(), err)
		}
	}
}

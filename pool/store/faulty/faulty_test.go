package faulty_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	storetest.Run(t, func(testing.TB) storetest.Harness {
		return storetest.Harness{New: func(testing.TB) store.Store { return faulty.Wrap(memory.New()) }}
	})
}

// next is a batch that follows after.
func next(after int64) []store.Batch {
	return []store.Batch{{Log: "a", After: after, Commits: []store.Commit{{Revision: after + 1}}}}
}

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		how     faulty.Outcome
		want    error
		applied bool
	}{
		{"applied", faulty.Applied, nil, true},
		{"not applied", faulty.NotApplied, store.ErrNotApplied, false},
		{"lost", faulty.Lost, store.ErrUnknown, false},
		{"kept", faulty.Kept, store.ErrUnknown, true},
		{"conflict", faulty.Conflict, store.ErrConflict, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := faulty.Wrap(memory.New())
			s.Fail(2, tt.how)
			for i := range int64(3) {
				head, err := s.Head(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				err = s.Append(t.Context(), next(head.Revision))
				if i != 1 && err != nil {
					t.Fatalf("append %d: %v", i+1, err)
				}
				if i == 1 && !errors.Is(err, tt.want) {
					t.Fatalf("got %v, want %v", err, tt.want)
				}
			}
			want := int64(2)
			if tt.applied {
				want = 3
			}
			if head, _ := s.Head(t.Context(), "a"); head.Revision != want {
				t.Errorf("the head is %d, want %d", head.Revision, want)
			}
			if s.Appends() != 3 {
				t.Errorf("%d appends", s.Appends())
			}
		})
	}
}

func TestFailAll_untilHeal(t *testing.T) {
	s := faulty.Wrap(memory.New())
	away := errors.New("away")
	s.FailAll(faulty.NotApplied)
	s.FailHead(away)
	for range 3 {
		if err := s.Append(t.Context(), next(0)); !errors.Is(err, store.ErrNotApplied) {
			t.Errorf("Append: %v", err)
		}
		if _, err := s.Head(t.Context(), "a"); !errors.Is(err, away) {
			t.Errorf("Head: %v", err)
		}
	}
	s.Heal()
	if err := s.Append(t.Context(), next(0)); err != nil {
		t.Error(err)
	}
	if head, err := s.Head(t.Context(), "a"); err != nil || head.Revision != 1 {
		t.Errorf("Head: %v, %v", head, err)
	}
}

func TestBefore_trueConflict(t *testing.T) {
	s := faulty.Wrap(memory.New())
	s.Before(1, func(ctx context.Context, batches []store.Batch) {
		if err := s.Store.Append(ctx, next(batches[0].After)); err != nil {
			t.Error(err)
		}
	})
	if err := s.Append(t.Context(), next(0)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Append: %v", err)
	}
	if err := s.Append(t.Context(), next(1)); err != nil {
		t.Errorf("Append: %v", err)
	}
}

func TestPause(t *testing.T) {
	s := faulty.Wrap(memory.New())
	arrived := s.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- s.Append(ctx, next(0)) }()
	<-arrived
	cancel()
	if err := <-first; !errors.Is(err, store.ErrNotApplied) || !errors.Is(err, context.Canceled) {
		t.Errorf("the one that gave up: %v", err)
	}
	go func() { second <- s.Append(t.Context(), next(0)) }()
	if batches := <-arrived; batches[0].After != 0 {
		t.Errorf("arrived: %v", batches)
	}
	if head, _ := s.Head(t.Context(), "a"); head.Revision != 0 {
		t.Errorf("the head moved to %d", head.Revision)
	}
	s.Resume()
	if err := <-second; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
}

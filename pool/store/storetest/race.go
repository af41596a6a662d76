package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// AppendRace: of all who append after one head, exactly one wins, and nothing
// of the others is left.
func AppendRace(t *testing.T, h Harness) {
	s := h.open(t)
	const appenders, revisions = 8, 25
	winner := make([]int, revisions+1)
	for r := int64(1); r <= revisions; r++ {
		won, racing := make([]bool, appenders), sync.WaitGroup{}
		for a := range appenders {
			racing.Go(func() {
				c := commit(r, set(1, fmt.Sprint(a)), set(int64(100+a), fmt.Sprint(r)))
				c.Nonce = uint64(a)
				err := s.Append(t.Context(), []store.Batch{batch("a", c)})
				if err != nil && !errors.Is(err, store.ErrConflict) {
					t.Errorf("Append: %v", err)
				}
				won[a] = err == nil
			})
		}
		racing.Wait()
		winners := 0
		for a, ok := range won {
			if ok {
				winners++
				winner[r] = a
			}
		}
		if winners != 1 {
			t.Fatalf("%d appends won revision %d", winners, r)
		}
	}
	got := collect(t, s, "a", 1)
	wantRevisions(t, got, 1, revisions)
	want := map[store.Key]string{key(1): fmt.Sprint(winner[revisions])}
	for r := 1; r <= revisions; r++ {
		want[key(int64(100+winner[r]))] = fmt.Sprint(r)
		if got[r-1].Nonce != uint64(winner[r]) {
			t.Errorf("revision %d is by %d, %d was told it won", r, got[r-1].Nonce, winner[r])
		}
	}
	wantRecords(t, s, "a", want)
}

// AppendRaceSeveralLogs: appends to two logs at once, in either order, race
// with appends to one, and each commit of a pair has its partner.
func AppendRaceSeveralLogs(t *testing.T, h Harness) {
	s := h.open(t)
	const appenders, wins = 4, 20
	var racing sync.WaitGroup
	for a := range appenders {
		racing.Go(func() {
			for n := 0; n < wins; {
				x, errX := s.Head(t.Context(), "x")
				y, errY := s.Head(t.Context(), "y")
				if errX != nil || errY != nil {
					t.Errorf("Head: %v, %v", errX, errY)
					return
				}
				cx, cy := commit(x.Revision+1), commit(y.Revision+1)
				cx.Nonce = uint64(a*wins + n + 1)
				cy.Nonce = cx.Nonce
				batches := []store.Batch{batch("x", cx), batch("y", cy)}
				if a%2 == 1 {
					batches[0], batches[1] = batches[1], batches[0]
				}
				err := s.Append(t.Context(), batches)
				if err == nil {
					n++
				} else if !errors.Is(err, store.ErrConflict) {
					t.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	racing.Wait()
	x, y := collect(t, s, "x", 1), collect(t, s, "y", 1)
	wantRevisions(t, x, 1, appenders*wins)
	wantRevisions(t, y, 1, appenders*wins)
	for i := range x {
		if x[i].Nonce != y[i].Nonce {
			t.Fatalf("revision %d is %d in one log and %d in the other", i+1, x[i].Nonce, y[i].Nonce)
		}
	}
}

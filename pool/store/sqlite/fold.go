package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// ask is a request to fold up to journal row seq, answered once.
type ask struct {
	ctx  context.Context
	seq  int64
	done chan error
}

// fold is the one goroutine that folds, from Open to Close.
func (s *Store) fold() {
	defer close(s.ended)
	ctx, cancel := context.WithCancel(uninterrupted)
	defer cancel()
	go func() {
		<-s.quit
		cancel()
	}()
	idle := time.NewTimer(s.tune.idle)
	defer idle.Stop()
	swept := time.Now()
	for {
		select {
		case <-s.quit:
			return
		case a := <-s.asks:
			a.done <- s.foldTo(a.ctx, a.seq)
		case <-s.wake:
			idle.Reset(s.tune.idle)
		case <-idle.C:
		}
		// Appends wake it only when they cross a threshold; in between the timer
		// looks whether they have ended.
		err := s.foldSome(ctx)
		if err == nil && time.Since(swept) >= s.tune.sweep {
			swept = time.Now()
			err = s.sweep(ctx, swept)
		}
		if err != nil && ctx.Err() == nil {
			// It is tried again: nothing is lost by that but time.
			s.log.Warn("folding the journal failed", "error", err)
		}
		if rows, _ := s.lag(); rows >= s.tune.idleRows || err != nil {
			idle.Reset(s.tune.idle)
		}
	}
}

// nudge wakes the folder; it decides whether there is something to do.
func (s *Store) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) lag() (rows, bytes int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.index.pending), s.index.pendingBytes
}

// foldSome folds down to half of the allowed lag when that is exceeded, and
// all when the store idles.
func (s *Store) foldSome(ctx context.Context) error {
	rows, bytes := s.lag()
	lagging := rows >= s.tune.lagRows || bytes >= s.tune.lagBytes
	for {
		rows, bytes := s.lag()
		idle := time.Since(time.Unix(0, s.appended.Load())) >= s.tune.idle && rows >= min(s.tune.idleRows, s.tune.lagRows)
		lagging = lagging && (rows >= s.tune.lagRows/2 || bytes >= s.tune.lagBytes/2)
		if rows == 0 || !idle && !lagging {
			return nil
		}
		if err := s.foldRound(ctx); err != nil {
			return err
		}
	}
}

// foldTo folds until row seq is in state.
func (s *Store) foldTo(ctx context.Context, seq int64) error {
	for {
		s.mu.RLock()
		done := len(s.index.pending) == 0 || s.index.pending[0].seq > seq
		s.mu.RUnlock()
		if done {
			return nil
		}
		if err := s.foldRound(ctx); err != nil {
			return err
		}
	}
}

// askFold has the folder fold up to row seq and waits for it.
func (s *Store) askFold(ctx context.Context, seq int64) error {
	a := ask{ctx: ctx, seq: seq, done: make(chan error, 1)}
	select {
	case s.asks <- a:
		return <-a.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.quit:
		return store.ErrClosed
	}
}

// foldRest folds what it can in the time that Close has. The turn is held, and
// everybody else has gone.
func (s *Store) foldRest() {
	ctx, cancel := context.WithTimeout(uninterrupted, s.tune.closing)
	defer cancel()
	for {
		if rows, _ := s.lag(); rows == 0 {
			return
		}
		if err := s.foldRoundHeld(ctx); err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				s.log.Warn("folding the journal at the end failed", "error", err)
			}
			return
		}
	}
}

// foldRoundHeld is foldRound for one who has the turn and keeps it.
func (s *Store) foldRoundHeld(ctx context.Context) error {
	r, err := s.readRound(ctx, s.w.payloads)
	if err != nil {
		return err
	}
	for _, bad := range r.bad {
		if err := s.loseRowHeld(bad.log, bad.rowRef, bad.why); err != nil {
			return err
		}
	}
	for !r.done {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.foldPiece(r); err != nil {
			return err
		}
	}
	return nil
}

// foldRound folds the next rows of the journal.
func (s *Store) foldRound(ctx context.Context) error {
	r, err := s.readRound(ctx, s.payloads)
	if err != nil {
		return err
	}
	for _, bad := range r.bad {
		if err := s.loseRow(ctx, bad.log, bad.rowRef, bad.why); err != nil {
			return err
		}
	}
	for !r.done {
		release, err := s.take(ctx)
		if err != nil {
			return err
		}
		if err = s.settle(); err == nil {
			err = s.foldPiece(r)
		}
		release()
		if err == nil {
			err = call(s.hook.piece)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// A read of history takes this much at once, and then lets its connection go:
// a slow receiver holds up neither others nor the checkpoint of the WAL.
const (
	chunkRows  = 64
	chunkBytes = 1 << 20
)

// querier is what a row can be read with.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readRow reads the commits of a row. The error wraps ErrCorrupt if the row is
// damaged or not there.
func (s *Store) readRow(ctx context.Context, q querier, log int64, r rowRef) ([]store.Commit, error) {
	var payload []byte
	err := q.QueryRowContext(ctx, "SELECT payload FROM journal WHERE seq = ?", r.seq).Scan(&payload)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: the row is missing", store.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	return decodeRow(payload, log, r)
}

// Head implements [store.Store]. After an append of unknown outcome it first
// makes the outcome known, for which it has to be able to write.
func (s *Store) Head(ctx context.Context, log string) (store.Head, error) {
	if s.doubt.Load() {
		release, err := s.take(ctx)
		if err != nil {
			return store.Head{}, err
		}
		err = s.settle()
		release()
		if err != nil {
			return store.Head{}, fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
	}
	for {
		if s.isClosed() {
			return store.Head{}, store.ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return store.Head{}, err
		}
		l, r, base := s.tail(log)
		if r == nil {
			return base, nil
		}
		commits, err := s.readChunk(ctx, l.id, []rowRef{*r})
		if err == nil {
			return commits[len(commits)-1].Head(), nil
		}
		if _, again, _ := s.tail(log); again != nil && *again != *r {
			continue // the log went on, and Trim took the row
		}
		if !errors.Is(err, store.ErrCorrupt) {
			return store.Head{}, s.readError(err)
		}
		// Setting it aside makes the base the head.
		if err := s.loseRow(ctx, l.id, *r, err.Error()); errors.Is(err, store.ErrClosed) || ctx.Err() != nil {
			return store.Head{}, err
		}
	}
}

// tail is the row that ends a log; none if base is the head.
func (s *Store) tail(log string) (l logState, r *rowRef, base store.Head) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	known := s.index.logs[log]
	if known == nil {
		return l, nil, base
	}
	l = *known
	if l.base.Revision == l.head() {
		return l, nil, l.base
	}
	return l, &l.rows[len(l.rows)-1], l.base
}

// Commits implements [store.Store]. The head is that of the moment iteration
// begins.
func (s *Store) Commits(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		c := cursor{s: s, ctx: ctx, log: log, next: max(from, 1)}
		head, _, err := c.look()
		if err == nil {
			err = c.read(head, yield)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(store.Commit{}, err)
		}
	}
}

// Follow implements [store.Store].
func (s *Store) Follow(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		c := cursor{s: s, ctx: ctx, log: log, next: max(from, 1)}
		for {
			head, grown, err := c.look()
			if err == nil {
				err = c.read(head, yield)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil {
				yield(store.Commit{}, err)
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
			case <-s.quit:
			}
		}
	}
}

// errEnough: the receiver wants no more, not even an error.
var errEnough = errors.New("enough")

// readChunk reads rows, at least the first, as long as they are not too large.
// The error is that of the first; one behind it ends the chunk.
func (s *Store) readChunk(ctx context.Context, log int64, rows []rowRef) ([]store.Commit, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.quit:
		return nil, store.ErrClosed
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var all []store.Commit
	size := 0
	for i, r := range rows {
		commits, err := s.readRow(ctx, conn, log, r)
		if err != nil {
			if i == 0 {
				return nil, err
			}
			break
		}
		all = append(all, commits...)
		if size += store.EncodedSize(commits); size > chunkBytes {
			break
		}
	}
	return all, nil
}

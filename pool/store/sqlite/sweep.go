package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// sweep deletes records that had expired at now, in pieces.
func (s *Store) sweep(ctx context.Context, now time.Time) error {
	for {
		release, err := s.take(ctx)
		if err != nil {
			return err
		}
		n := 0
		if err = s.settle(); err == nil {
			n, err = s.sweepPiece(now)
		}
		release()
		if err != nil || n < s.tune.pieceRows/2 {
			return err
		}
	}
}

func (s *Store) sweepPiece(now time.Time) (int, error) {
	due, err := s.expired(now)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	p, deleted := s.newPiece(), int64(0)
	err = s.w.lazyTx(func() error {
		for _, k := range due {
			if s.index.byID[k.log] == nil {
				continue
			}
			n, err := s.w.exec("DELETE FROM state WHERE log = ? AND kind = ? AND id = ? AND sub = ? AND expires BETWEEN 1 AND ?",
				k.log, int64(k.key.Kind), k.key.ID, k.key.Sub, now.UnixMilli())
			if err != nil {
				return err
			}
			p.log(k.log).records -= n
			deleted += n
		}
		return p.writeLogs()
	})
	if err != nil {
		return 0, s.doubtful(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.publishLocked()
	if deleted == 0 {
		// Its index is not to be trusted; this must not go on for ever.
		return 0, fmt.Errorf("%w: the index of expiring records", store.ErrCorrupt)
	}
	return len(due), nil
}

// expired lists records that had expired at now, at most half a piece: each may
// take its log's row with it.
func (s *Store) expired(now time.Time) ([]stateKey, error) {
	var due []stateKey
	err := s.w.query(func(rows *sql.Rows) error {
		var k stateKey
		var kind, expires int64
		var payload []byte
		if err := rows.Scan(&k.log, &kind, &k.key.ID, &k.key.Sub, &expires, &payload); err != nil {
			return err
		}
		k.key.Kind = uint8(kind)
		if _, err := openRecord(k, expires, payload); err != nil {
			return nil //nolint:nilerr // its expiry may be what is damaged; Load tells it
		}
		if due = append(due, k); len(due) >= s.tune.pieceRows/2 {
			return errEnough
		}
		return nil
	}, "SELECT log, kind, id, sub, expires, payload FROM state WHERE expires > 0 AND expires <= ? ORDER BY expires", now.UnixMilli())
	if errors.Is(err, errEnough) {
		err = nil
	}
	return due, err
}

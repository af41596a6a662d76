package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Load implements [store.Store]. It keeps in memory what is not folded yet of
// the log, and streams the rest.
func (s *Store) Load(ctx context.Context, log string, yield func(store.Key, []byte) error) (store.State, error) {
	v, err := s.view(ctx, log)
	if err != nil {
		return store.State{}, s.readError(err)
	}
	if v == nil {
		return store.State{Oldest: 1}, nil
	}
	defer v.close()
	if err := v.load(ctx, yield); err != nil {
		return store.State{}, s.readError(err)
	}
	v.close()
	return s.tell(ctx, v)
}

func (v *view) load(ctx context.Context, yield func(store.Key, []byte) error) error {
	newer, err := v.readPending(ctx)
	if err != nil {
		return err
	}
	if !newer.reset {
		if err := v.stream(ctx, newer.facts, yield); err != nil {
			return err
		}
	}
	for key, f := range newer.facts {
		expires := expiryColumn(f.Expires)
		if f.Gone || expires > 0 && expires <= v.now {
			continue
		}
		if err := v.alive(ctx); err != nil {
			return err
		}
		// A copy, or one record would keep the bytes of all its batch.
		if err := yield(key, bytes.Clone(f.Value)); err != nil {
			return err
		}
	}
	return v.readHead(ctx)
}

// readPending merges what is not folded yet.
func (v *view) readPending(ctx context.Context) (*merged, error) {
	m := newMerge(time.UnixMilli(v.now))
	m.add(v.log.id, nil)
	for _, r := range v.pending {
		if err := v.alive(ctx); err != nil {
			return nil, err
		}
		commits, err := v.s.readRow(ctx, v.conn, v.log.id, r)
		if errors.Is(err, store.ErrCorrupt) {
			v.badRows = append(v.badRows, badRow{pendingRow: pendingRow{rowRef: r, log: v.log.id}, why: err.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		m.add(v.log.id, commits)
	}
	return m.logs[v.log.id], nil
}

// stream yields the records in state but those that are newer elsewhere.
func (v *view) stream(ctx context.Context, newer map[store.Key]store.Fact, yield func(store.Key, []byte) error) error {
	var want, count int64
	err := v.conn.QueryRowContext(ctx, "SELECT records, (SELECT count(*) FROM state WHERE log = logs.id) FROM logs WHERE id = ?", v.log.id).Scan(&want, &count)
	if err != nil {
		return err
	}
	query, args := "SELECT log, kind, id, sub, expires, payload FROM state WHERE log = ?", []any{v.log.id}
	if count != want {
		// A key that was damaged hides what is behind it: look at every row.
		query, args = "SELECT log, kind, id, sub, expires, payload FROM state NOT INDEXED", nil
	}
	rows, err := v.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := int64(0)
	for rows.Next() {
		if err := v.alive(ctx); err != nil {
			return err
		}
		key, value, ours, err := v.scan(rows)
		if err != nil {
			return err
		}
		if !ours {
			continue
		}
		found++
		if _, ok := newer[key]; ok || value == nil {
			continue
		}
		if err := yield(key, value); err != nil {
			return err
		}
	}
	v.missing = max(want-found-int64(len(v.badRecords)), 0)
	return rows.Err()
}

// scan reads a row of state; the value is nil when the record has expired, and
// the row is not ours when it is damaged or another log's.
func (v *view) scan(rows *sql.Rows) (key store.Key, value []byte, ours bool, err error) {
	var c [5]any
	var payload sql.RawBytes
	if err := rows.Scan(&c[0], &c[1], &c[2], &c[3], &c[4], &payload); err != nil {
		return key, nil, false, err
	}
	var n [5]int64
	sound := true
	for i := range c {
		var ok bool
		n[i], ok = column(c[i])
		sound = sound && ok
	}
	k := stateKey{log: n[0], key: store.Key{Kind: uint8(n[1]), ID: n[2], Sub: n[3]}}
	if !sound || n[1] != int64(k.key.Kind) {
		err = fmt.Errorf("%w: its key", store.ErrCorrupt)
	} else {
		value, err = openRecord(k, n[4], payload)
	}
	if err != nil {
		v.badRecords = append(v.badRecords, badRecord{
			log: c[0], kind: c[1], id: c[2], sub: c[3], payload: bytes.Clone(payload), why: err.Error(),
		})
		return key, nil, false, nil //nolint:nilerr // kept as a bad record
	}
	if k.log != v.log.id {
		return key, nil, false, nil
	}
	if n[4] > 0 && n[4] <= v.now {
		return k.key, nil, true, nil
	}
	// The receiver's own; not nil though empty.
	return k.key, append(make([]byte, 0, len(value)), value...), true, nil
}

func (v *view) readHead(ctx context.Context) error {
	head := v.log.head()
	if v.log.base.Revision == head {
		v.head = v.log.base
		return nil
	}
	r := v.log.rows[len(v.log.rows)-1]
	commits, err := v.s.readRow(ctx, v.conn, v.log.id, r)
	if errors.Is(err, store.ErrCorrupt) {
		v.head = newHead(head)
		v.badRows = append(v.badRows, badRow{pendingRow: pendingRow{rowRef: r, log: v.log.id}, why: err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	v.head = commits[len(commits)-1].Head()
	return nil
}

// tell sets aside what the view found damaged, and makes the state of it.
func (s *Store) tell(ctx context.Context, v *view) (store.State, error) {
	for _, bad := range v.badRows {
		// What can't be written is remembered, and reading goes on.
		if err := s.loseRow(ctx, bad.log, bad.rowRef, bad.why); err != nil && v.alive(ctx) != nil {
			return store.State{}, s.readError(err)
		}
	}
	for _, bad := range v.badRecords {
		if err := s.loseRecord(ctx, v.log.id, bad); err != nil && v.alive(ctx) != nil {
			return store.State{}, s.readError(err)
		}
	}
	if v.missing > 0 {
		if err := s.loseCount(ctx, v.log.id, v.missing); err != nil && v.alive(ctx) != nil {
			return store.State{}, s.readError(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.byID[v.log.id]
	l.told = len(l.damages)
	if l.base.Revision == v.head.Revision && l.head() == v.head.Revision {
		v.head = l.base
	}
	return store.State{Head: v.head, Oldest: min(l.oldest(), v.head.Revision+1), Damaged: l.damagedList()}, nil
}

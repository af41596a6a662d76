package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
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
	found := int64(0)
	err = v.each(ctx, query, args, func(row []driver.Value) error {
		key, value, ours := v.scan(row)
		if !ours {
			return nil
		}
		found++
		if _, ok := newer[key]; ok || value == nil {
			return nil
		}
		return yield(key, value)
	})
	v.missing = max(want-found-int64(len(v.badRecords)), 0)
	return err
}

// each passes on every row of a query, as the driver gives it: there may be
// millions, and database/sql takes as long over each as SQLite. What a row holds is
// the receiver's, the row itself is not.
func (v *view) each(ctx context.Context, query string, args []any, one func(row []driver.Value) error) error {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return v.conn.Raw(func(conn any) (err error) {
		// The context is looked at between rows; none of them takes long.
		rows, err := conn.(driver.QueryerContext).QueryContext(uninterrupted, query, values)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		row := make([]driver.Value, len(rows.Columns()))
		for {
			if err := v.alive(ctx); err != nil {
				return err
			}
			if err := rows.Next(row); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if err := one(row); err != nil {
				return err
			}
		}
	})
}

// scan reads a row of state; the value is nil when the record has expired, and
// the row is not ours when it is damaged or another log's.
func (v *view) scan(c []driver.Value) (key store.Key, value []byte, ours bool) {
	payload, _ := c[5].([]byte) // damage may have made it anything
	var n [5]int64
	sound := true
	for i := range n {
		var ok bool
		n[i], ok = column(c[i])
		sound = sound && ok
	}
	k := stateKey{log: n[0], key: store.Key{Kind: uint8(n[1]), ID: n[2], Sub: n[3]}}
	var err error
	if !sound || n[1] != int64(k.key.Kind) {
		err = fmt.Errorf("%w: its key", store.ErrCorrupt)
	} else {
		value, err = openRecord(k, n[4], payload)
	}
	if err != nil {
		v.badRecords = append(v.badRecords, badRecord{
			log: c[0], kind: c[1], id: c[2], sub: c[3], payload: payload, why: err.Error(),
		})
		return key, nil, false
	}
	if k.log != v.log.id {
		return key, nil, false
	}
	if n[4] > 0 && n[4] <= v.now {
		return k.key, nil, true
	}
	return k.key, value, true // not nil though empty
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

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// round is some rows of the journal on their way into state: of each record,
// what it has become at their end.
type round struct {
	rows    []pendingRow
	changes []change
	spans   []span
	bad     []badRow
	// next is the first of changes that is not in state yet; done follows the
	// last transaction, which also moves meta.folded.
	next int
	done bool
}

// change is one row of state to write or delete, or all of a log to delete.
type change struct {
	stateKey
	reset   bool
	gone    bool
	expires int64
	value   []byte
}

// size is what a change counts against the bound of a transaction.
func (c change) size() int { return 32 + len(c.value) }

// span is the row of spans for what a round has of one log.
type span struct {
	log  int64
	rows []rowRef
}

type badRow struct {
	pendingRow
	why string
}

// payloads reads the payloads of pending rows, with nil for one that is not
// there.
type payloads func(ctx context.Context, rows []pendingRow) ([][]byte, error)

// readRound reads the next round, without writing.
func (s *Store) readRound(ctx context.Context, read payloads) (*round, error) {
	rows := s.nextRows()
	all, err := read(ctx, rows)
	if err != nil {
		return nil, err
	}
	r := &round{rows: rows}
	m := newMerge(time.Now())
	spans := make(map[int64]*span)
	for i, p := range rows {
		commits, err := decodeRow(all[i], p.log, p.rowRef)
		if err != nil {
			r.bad = append(r.bad, badRow{pendingRow: p, why: err.Error()})
			continue
		}
		m.add(p.log, commits)
		if spans[p.log] == nil {
			spans[p.log] = &span{log: p.log}
		}
		spans[p.log].rows = append(spans[p.log].rows, p.rowRef)
	}
	for _, sp := range spans {
		r.spans = append(r.spans, *sp)
	}
	r.changes = m.changes()
	return r, nil
}

// nextRows picks the rows of a round. At least one, if any is pending.
func (s *Store) nextRows() []pendingRow {
	s.mu.RLock()
	defer s.mu.RUnlock()
	logs, bytes := make(map[int64]bool), 0
	for i, p := range s.index.pending {
		logs[p.log] = true
		bytes += p.bytes
		if i > 0 && (i >= s.tune.roundRows || bytes > s.tune.roundBytes || len(logs) > s.tune.roundLogs) {
			return s.index.pending[:i]
		}
	}
	return s.index.pending
}

// payloads reads with a reader's connection, so that nobody has to wait.
func (s *Store) payloads(ctx context.Context, rows []pendingRow) ([][]byte, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	result, err := s.readers.QueryContext(ctx, selectPayloads, rows[0].seq, rows[len(rows)-1].seq)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	all := make([][]byte, len(rows))
	for result.Next() {
		if err := scanPayload(result, rows, all); err != nil {
			return nil, err
		}
	}
	return all, result.Err()
}

// payloads reads with the writer's connection, when Close has it alone.
func (w *writer) payloads(_ context.Context, rows []pendingRow) ([][]byte, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	all := make([][]byte, len(rows))
	return all, w.query(func(result *sql.Rows) error {
		return scanPayload(result, rows, all)
	}, selectPayloads, rows[0].seq, rows[len(rows)-1].seq)
}

const selectPayloads = "SELECT seq, payload FROM journal WHERE seq BETWEEN ? AND ?"

func scanPayload(result *sql.Rows, rows []pendingRow, all [][]byte) error {
	var seq int64
	var payload []byte
	if err := result.Scan(&seq, &payload); err != nil {
		return err
	}
	if i, found := slices.BinarySearchFunc(rows, seq, func(p pendingRow, seq int64) int { return cmp.Compare(p.seq, seq) }); found {
		all[i] = payload
	}
	return nil
}

// merge is what records become over some commits: the last fact of each wins.
type merge struct {
	now  int64
	logs map[int64]*merged
}

type merged struct {
	reset bool
	facts map[store.Key]store.Fact
}

func newMerge(now time.Time) *merge {
	return &merge{now: now.UnixMilli(), logs: make(map[int64]*merged)}
}

func (m *merge) add(log int64, commits []store.Commit) {
	l := m.logs[log]
	if l == nil {
		l = &merged{facts: make(map[store.Key]store.Fact)}
		m.logs[log] = l
	}
	for _, c := range commits {
		if c.Reset {
			l.reset = true
			clear(l.facts)
		}
		for _, f := range c.Facts {
			if !f.Past {
				l.facts[f.Key] = f
			}
		}
	}
}

// expired says whether a record can be forgotten.
func (m *merge) expired(expires int64) bool { return expires > 0 && expires <= m.now }

// changes lists what is to be done to state, in the order of its keys.
func (m *merge) changes() []change {
	var all []change
	for log, l := range m.logs {
		if l.reset {
			all = append(all, change{stateKey: stateKey{log: log}, reset: true})
		}
		for key, f := range l.facts {
			c := change{stateKey: stateKey{log: log, key: key}, expires: expiryColumn(f.Expires), value: f.Value}
			c.gone = f.Gone || m.expired(c.expires)
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		if a.log != b.log {
			return cmp.Compare(a.log, b.log)
		}
		if a.reset != b.reset {
			if a.reset {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.key.Kind, b.key.Kind), cmp.Compare(a.key.ID, b.key.ID), cmp.Compare(a.key.Sub, b.key.Sub))
	})
	return all
}

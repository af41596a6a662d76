package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver

	"github.com/taskpool-dev/taskpool/pool/store"
)

// DatabaseName is the name of the database file within a data directory.
const DatabaseName = "taskpool.db"

// Store is an open data directory. All methods may be called concurrently, also
// from within an iteration or a Load.
type Store struct {
	dir  string
	log  *slog.Logger
	tune tuning
	hook hooks

	lock    *lockFile
	readers *sql.DB
	// reading bounds how many history reads have a connection at once.
	reading chan struct{}

	turn turn
	// w belongs to whoever has the turn.
	w *writer
	// doubt: a write's outcome is unknown, so index may not be what is in the
	// file. Set and cleared by whoever has the turn.
	doubt atomic.Bool

	mu    sync.RWMutex
	index *index // guarded by mu and turn: changed under both, read under either
	// absent has what followers of logs that are not there yet wait for.
	absent map[string]chan struct{} // guarded by mu

	// quit is closed when Close begins; the folder ends then, and closes ended.
	quit, ended chan struct{}
	// wake has a token when there may be something to fold; asks are requests
	// to fold at once.
	wake chan struct{}
	asks chan ask
	// appended is when the last append was, in nanoseconds of the clock.
	appended atomic.Int64

	closing  sync.Once
	closeErr error
}

var _ store.Store = (*Store)(nil)

// Open opens the data directory dir, and makes it if it isn't there. Until
// Close, no other process can: it gets a *store.LockedError that names this
// one. What a killed process left behind is taken over at once.
func Open(ctx context.Context, dir string, opts ...Option) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Store{
		dir:     dir,
		log:     slog.New(slog.DiscardHandler),
		tune:    defaultTuning,
		reading: make(chan struct{}, 4),
		turn:    newTurn(),
		quit:    make(chan struct{}),
		ended:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
		asks:    make(chan ask),
		absent:  make(map[string]chan struct{}),
	}
	for _, opt := range opts {
		opt(s)
	}
	if err := s.open(); err != nil {
		_ = s.release()
		var locked *store.LockedError
		if errors.As(err, &locked) {
			return nil, err
		}
		return nil, fmt.Errorf("open %s: %w", s.path(), corrupt(err))
	}
	go s.fold()
	s.nudge()
	return s, nil
}

func (s *Store) path() string { return filepath.Join(s.dir, DatabaseName) }

func (s *Store) open() error {
	if err := makeDir(s.dir); err != nil {
		return err
	}
	var err error
	if s.lock, err = lockDir(s.dir); err != nil {
		return err
	}
	if err := createFile(s.path()); err != nil {
		return err
	}
	if s.w, err = openWriter(s.path(), &s.hook); err != nil {
		return err
	}
	if err := ensureSchema(s.w); err != nil {
		return err
	}
	if s.readers, err = openReaders(s.path()); err != nil {
		return err
	}
	if s.index, err = s.readIndex(); err != nil {
		return err
	}
	return nil
}

// makeDir makes dir, durably, unless it is there.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// createFile makes the database file for this user alone; SQLite would make it
// for all, and gives its side files the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), syncDir(filepath.Dir(path)))
}

// syncDir makes names in dir durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, os.ErrInvalid) {
		return err
	}
	return nil
}

func openReaders(path string) (*sql.DB, error) {
	name, err := dsn(path, "query_only(1)", "cell_size_check(1)", "trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(4)
	return db, nil
}

// Shared implements [store.Store]: the data directory is locked for this value.
func (s *Store) Shared() bool { return false }

// Close implements [store.Store]. It folds what is left, for a bounded time, so
// that the next start is quick; what it does not get to is folded then.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		<-s.ended
		// Appends that have the turn finish; those that wait see quit.
		s.turn <- struct{}{}
		if !s.doubt.Load() {
			s.foldRest()
		}
		s.closeErr = s.release()
		<-s.turn
	})
	return s.closeErr
}

// release closes whatever open opened.
func (s *Store) release() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.w != nil {
		errs = append(errs, s.w.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.unlock())
	}
	return errors.Join(errs...)
}

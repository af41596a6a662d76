package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

const lockName = "taskpool.lock"

// lockFile keeps other processes out of a data directory. The kernel holds the
// lock and drops it with the process, however that ends; what the file says is
// only for the message, so a stale process id can't mislead anyone. The file
// is never deleted: a process that waits could hold the deleted one.
type lockFile struct{ f *os.File }

func lockDir(dir string) (*lockFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := tryLock(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	if !locked {
		defer func() { _ = f.Close() }()
		return nil, &store.LockedError{Dir: dir, Owner: readOwner(f)}
	}
	host, _ := os.Hostname()
	owner := fmt.Sprintf("process %d on host %s, started %s", os.Getpid(), host, time.Now().Format(time.RFC3339))
	// One that asks in between reads a part, or nothing; so written at once,
	// and cut after. The lock holds without a name in it, so a full disk does
	// not keep the data from being read.
	if _, err := f.WriteAt([]byte(owner+"\n"), 0); err == nil {
		_ = f.Truncate(int64(len(owner) + 1))
	}
	return &lockFile{f: f}, nil
}

// readOwner is what the process that holds the lock says of itself.
func readOwner(f *os.File) string {
	buf := make([]byte, 512)
	n, _ := f.ReadAt(buf, 0)
	line, _, whole := strings.Cut(string(buf[:n]), "\n")
	if !whole {
		return "another process"
	}
	return line
}

// unlock lets go at once. Closing alone would not: a child that is being forked
// at this moment has the file too, until it runs its program.
func (l *lockFile) unlock() error {
	return errors.Join(unlock(l.f), l.f.Close())
}

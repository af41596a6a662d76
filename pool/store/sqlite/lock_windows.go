package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock says whether f is now locked by this open file alone. It locks one
// byte far behind the text, which others must be able to read.
func tryLock(f *os.File) (bool, error) {
	at := lockedByte()
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }

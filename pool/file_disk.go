package pool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSystem is what replacing a file asks of the system. Tests let a step of it
// fail.
type fileSystem struct {
	create  func(dir string) (newFile, error)
	rename  func(from, to string) error
	remove  func(path string) error
	syncDir func(dir string) error
}

// newFile is a file that is being written.
type newFile interface {
	io.Writer
	Name() string
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

// disk is the system's.
var disk = fileSystem{
	create: func(dir string) (newFile, error) { return os.CreateTemp(dir, ".taskpool-save-*") },
	rename: os.Rename,
	remove: os.Remove,
	syncDir: func(dir string) error {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		err = d.Sync()
		_ = d.Close()
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrInvalid) {
			return nil // there are systems that keep names in another way
		}
		return err
	},
}

// replaceFile puts what write writes in the place of the file at path, durably
// and at once: as a file beside it, which then gets its name. It keeps the mode
// of the file that was there, and a link to it.
func (s fileSystem) replaceFile(path string, write func(io.Writer) error) (err error) {
	path, mode, err := target(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := s.create(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f, mode, write), f.Close()); err != nil {
		return errors.Join(err, s.remove(f.Name()))
	}
	if err := s.rename(f.Name(), path); err != nil {
		return errors.Join(err, s.remove(f.Name()))
	}
	if err := s.syncDir(dir); err != nil {
		return fmt.Errorf("the new file is in its place, but may not outlast a power cut: %w", err)
	}
	return nil
}

// fill writes a new file, and returns when it is on disk.
func fill(f newFile, mode fs.FileMode, write func(io.Writer) error) error {
	if err := f.Chmod(mode); err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// target is the file that path stands for, and the mode that a new one in its
// place gets.
func target(path string) (string, fs.FileMode, error) {
	if path == "" {
		return "", 0, errors.New("the path is empty: name a file")
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil
	}
	linked, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(linked)
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is no regular file: name another", path)
	}
	return linked, info.Mode().Perm(), nil
}

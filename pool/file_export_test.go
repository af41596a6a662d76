package pool

import (
	"context"
	"errors"
	"io/fs"

	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// MaxFileBytes is how large a file is read.
const MaxFileBytes = maxFileBytes

// ErrDisk is what a failing step of a save fails with.
var ErrDisk = errors.New("the disk is tired")

// SaveSteps are the steps of replacing a file, in order.
var SaveSteps = []string{"create", "chmod", "write", "sync", "close", "rename", "sync the directory"}

// SaveFailing is Save where one step fails. before runs before each step.
func (p *Pool) SaveFailing(ctx context.Context, path, step string, before func(step string)) error {
	at := func(name string) error {
		before(name)
		if name == step {
			return ErrDisk
		}
		return nil
	}
	return p.save(ctx, path, fileSystem{
		create: func(dir string) (newFile, error) {
			if err := at("create"); err != nil {
				return nil, err
			}
			f, err := disk.create(dir)
			return failing{f, at}, err
		},
		rename: func(from, to string) error {
			if err := at("rename"); err != nil {
				return err
			}
			return disk.rename(from, to)
		},
		remove: disk.remove,
		syncDir: func(dir string) error {
			return errors.Join(at("sync the directory"), disk.syncDir(dir))
		},
	}, maxFileBytes)
}

// SaveAtMost is Save where a file may be so large.
func (p *Pool) SaveAtMost(ctx context.Context, path string, most int) error {
	return p.save(ctx, path, disk, most)
}

// failing is a new file of which a step may fail.
type failing struct {
	newFile
	at func(step string) error
}

func (f failing) Chmod(mode fs.FileMode) error {
	return errors.Join(f.at("chmod"), f.newFile.Chmod(mode))
}

func (f failing) Write(b []byte) (int, error) {
	if err := f.at("write"); err != nil {
		n, _ := f.newFile.Write(b[:len(b)/2])
		return n, err
	}
	return f.newFile.Write(b)
}

func (f failing) Sync() error  { return errors.Join(f.at("sync"), f.newFile.Sync()) }
func (f failing) Close() error { return errors.Join(f.at("close"), f.newFile.Close()) }

// ReadTasks is what LoadFile does before it touches the pool.
func (p *Pool) ReadTasks(data []byte) (taskfile.File, error) { return readTasks(data, p.limits) }

// UnsavableFields are the fields of a task that a file has no place for.
func UnsavableFields() (names []string) {
	for _, u := range unsavables {
		names = append(names, u.name)
	}
	return names
}

package pool

import (
	"context"
	"fmt"
	"io"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// Save writes the pool to a file of llm-chat-task's format, which
// [Pool.LoadFile] and [Load] read; see package taskfile. It has all tasks in
// creation order, as they are in one revision.
//
// The file at path, or that which path links to, is replaced at once: it is
// either the old or the new one, whole, whatever happens meanwhile, and the new
// one is on disk when Save returns nil. It keeps its mode; one that was not there
// is for this user alone, as whose it is written in any case. After an error the
// old file is as it was, and nothing else is left behind; only where the very last
// step fails, the directory's sync, the new file is there already, and the error
// says so. A process that is killed meanwhile may leave a .taskpool-save-… beside
// it, which can be deleted.
//
// A pool of which the format would lose something that was put in is refused
// with an *UnsavableError, and nothing is written: statuses that the format
// doesn't know, parents, labels, bodies, not_before, reviewers, reasons of a
// block, discovered_from, results, leases, comments, hand-ins with their gates and
// verdicts, and an assignee of a task that is open, or that was set by hand. ExportPool
// keeps all of them.
//
// By its nature the format has no place for who created, claimed and held a task,
// for times other than those of the progress log (which have milliseconds there)
// and who wrote its entries, for keys, versions, the rest of the thread and
// request ids. A pool is not refused for these: what is loaded begins anew with
// them.
//
// Errors: *UnsavableError; *QuotaError for a pool that makes a larger file than is
// read; the system's, wrapped; the context's.
func (p *Pool) Save(ctx context.Context, path string) error {
	return p.save(ctx, path, disk, maxFileBytes)
}

func (p *Pool) save(ctx context.Context, path string, d fileSystem, most int) error {
	p.mu.RLock()
	snap := p.snapshotLocked()
	p.mu.RUnlock()
	if err := snap.savable(ctx); err != nil {
		return err
	}
	err := d.replaceFile(path, func(w io.Writer) error { return snap.write(ctx, w, most) })
	if err != nil {
		return fmt.Errorf("save the pool: %w", err)
	}
	return nil
}

// write writes every task as a file has it, which is at most so large.
func (s *snapshot) write(ctx context.Context, w io.Writer, most int) error {
	var file taskfile.Writer
	put := func(piece []byte) error {
		if most -= len(piece); most < 0 {
			return &QuotaError{Reason: ReasonRevisionTooLarge, Message: fmt.Sprintf(
				"the file would be larger than the %d MiB that are read; use ExportPool, which has no such bound", maxFileBytes>>20)}
		}
		_, err := w.Write(piece)
		return err
	}
	for n, err := range s.all(ctx) {
		if err != nil {
			return err
		}
		piece, err := file.Record(taskfile.Record{Task: n.task, History: n.history()})
		if err != nil {
			return err
		}
		if err := put(piece); err != nil {
			return err
		}
	}
	return put(file.End())
}

// history is the progress log of a node.
func (n *node) history() []taskfile.Entry {
	if n.task.HistoryCount == 0 {
		return nil
	}
	entries := make([]taskfile.Entry, 0, n.task.HistoryCount)
	for _, e := range n.thread {
		if e.Kind == task.EventProgress {
			entries = append(entries, taskfile.Entry{At: e.At, Text: e.Body})
		}
	}
	return entries
}

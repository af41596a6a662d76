package client_test

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// feed is a server's history: revision r changes r%4+1 tasks, and its cursor is
// "c" and r. Every fifth revision is of no interest to the view.
type feed struct {
	revisions int64
	// batch is how many revisions a message has, part how many changes of one
	// revision; 0: 3 and 2.
	batch, part int
	// cut ends a stream after that many messages; nil: never.
	cut func(stream int) (messages int)
	n   int
}

func (f *feed) interesting(r int64) bool { return r%5 != 0 }

// changes is how many revisions are of interest.
func (f *feed) changes() (n int) {
	for r := range f.revisions {
		if f.interesting(r + 1) {
			n++
		}
	}
	return n
}

func (f *feed) of(r int64) (all []*taskpoolv1.TaskChange) {
	for i := range r%4 + 1 {
		id := fmt.Sprintf("t%d", (r+i)%7+1)
		if i == 2 {
			all = append(all, deleted(r, id))
		} else {
			all = append(all, upserted(r, id))
		}
	}
	return all
}

// messages is what comes after revision after.
func (f *feed) messages(after int64) (all []message) {
	batch, part := max(f.batch, 1), max(f.part, 1)
	if f.batch == 0 {
		batch, part = 3, 2
	}
	all = append(all, opened(cursorOf(after)))
	var wait []*taskpoolv1.TaskChange
	inWait := 0
	for r := after + 1; r <= f.revisions; r++ {
		if !f.interesting(r) {
			if len(wait) == 0 {
				all = append(all, progress(cursorOf(r)))
			}
			continue
		}
		rest := f.of(r)
		for len(rest) > part {
			all = append(all, changes("", append(wait, rest[:part]...)...))
			wait, inWait, rest = nil, 0, rest[part:]
		}
		wait = append(wait, rest...)
		if inWait++; inWait >= batch || r >= f.revisions-1 {
			all = append(all, changes(cursorOf(r), wait...))
			wait, inWait = nil, 0
		}
	}
	return all
}

func cursorOf(r int64) string { return "c" + strconv.FormatInt(r, 10) }

// present is the state at the middle of the history, in parts.
func (f *feed) present() (all []message) {
	middle := f.revisions / 2
	tasks := map[string]*taskpoolv1.Task{}
	for r := int64(1); r <= middle; r++ {
		if !f.interesting(r) {
			continue
		}
		for _, c := range f.of(r) {
			if delete(tasks, c.GetTaskId()); c.GetTask() != nil {
				tasks[c.GetTaskId()] = c.GetTask()
			}
		}
	}
	all = append(all, opened(""))
	for i := range 8 {
		if t := tasks[fmt.Sprintf("t%d", i)]; t != nil {
			all = append(all, snapshot(t))
		}
	}
	return append(append(all, snapshotEnd(cursorOf(middle))), f.messages(middle)[1:]...)
}

func (f *feed) serve(r watchRequest, stream watchStream) error {
	all := f.present()
	if after := r.GetAfterCursor(); after != "" {
		revision, err := strconv.ParseInt(strings.TrimPrefix(after, "c"), 10, 64)
		if err != nil {
			return status.Error(codes.InvalidArgument, "no cursor: "+after)
		}
		all = f.messages(revision)
	}
	end := errHang
	if f.cut != nil {
		if n := f.cut(f.n); n < len(all) {
			all, end = all[:n], errAway
		}
	}
	f.n++
	return call(end, all...)(r, stream)
}

// content is a told Change without its cursor.
func content(line string) string {
	revision, rest, _ := strings.Cut(line, "@")
	_, tasks, _ := strings.Cut(rest, " ")
	return revision + " " + tasks
}

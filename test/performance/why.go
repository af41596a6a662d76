package main

import "strings"

// why says of rows that may miss their aim what is in the way, as far as is known:
// by a part of the row's title, the first that fits. What was tried stands in
// docs/performance-notes.md.
var why = []struct{ row, text string }{
	{"one caller", "SQLite's commit takes about 80 µs of processor beside its sync, the mutation changes goroutines twice, and after a sync every wake-up finds an idle processor, which on a virtual machine is slow: of some 900 µs about 400 are the append, 90 the pool, and the call itself takes 100 longer than an empty one in a busy loop."},
	{"durable CreateTask", "Both processors are busy, client and server on one machine: a create costs what the next row says."},
	{"server CPU of a durable create", "gRPC takes some 45 µs as for any call; the rest is about a quarter each of memory (13 KB a create: request, task, what history and feed keep, answer) and its collection, SQLite's share of a commit, checks and the writer, and the answer with the whole task. Bare prototypes on SQLite had 1.43 to 1.5."},
	{"ReadTask", "It answers with the whole task and looks it up by id; what differs from an empty call is within the spread of the machine."},
	{"CPU of each delivery", "At 100 watchers half of it is the kernel's writing to sockets; each watch looks at each change."},
	{"p99 from the mutation's own time", "The machine pauses by itself: compare the empty call at that rate, below. Each delivery is a message, a wake-up and a write of its own, some 10 µs in the server and as much in the client. Waking watchers at most every 2 ms did not help."},
	{"restart", "Rows are read by one goroutine (SQLite's stepping and copying, a third), decoded by the others, and indexed by one; the process's memory comes from the kernel page by page meanwhile."},
	{"memory of each", "Of some 1,600 bytes 680 are title and brief, 480 the task's fields, of which many are empty in most tasks, 160 its first event, 110 what the pool knows around it, the rest indexes."},
	{"time of a call among", "The same work is done; what is slower is the memory: a heap of gigabytes has more misses, and the collector's pauses to help are longer. The spread of this machine is often greater than the difference."},
}

// because is why for a row.
func because(row string) string {
	for _, w := range why {
		if strings.Contains(row, w.row) {
			return " " + w.text
		}
	}
	return ""
}

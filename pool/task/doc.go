// Package task is what a task is: its values, their limits, how text is read,
// and the table of moves between statuses.
//
// Everything here is pure: no lock, no clock, no I/O, and nothing that knows
// protobuf or a transport. A *Task that has been published is immutable; to
// change one, copy it with [Task.Clone] and publish the copy. All text is
// counted in Unicode code points.
package task

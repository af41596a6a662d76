// Package pool is a lock-guarded pool of tasks with a change feed, over a
// [github.com/taskpool-dev/taskpool/pool/store.Store].
//
// # Promises
//
//  1. Acknowledged is durable. A mutation returns only when it and its events
//     are in the store, in one commit. No read, refusal or replay shows what a
//     crash could still take back.
//  2. The feed is the state. One revision counter per pool; a snapshot and the
//     changes after it, or all changes from the first, give what a listing
//     gives, without gap, duplicate or reordering, across restarts too. History
//     that is gone is an error that says so.
//  3. One winner. A task has at most one hold. A hold token that is carried is
//     always checked.
//  4. Done is earned. No field, plan, import or edit goes around a contract.
//  5. One readiness. Claim, list, update and explain use one predicate,
//     [github.com/taskpool-dev/taskpool/pool/task.Claimable].
//
// # How a mutation happens
//
// A [Registry] has one writer for its store. Mutations queue, bounded. The
// writer takes all that wait, runs each in a layer over the published state,
// encodes, appends everything in one call to the store, then takes each pool's
// lock just to swap the new values in, and answers everyone, refusals and
// no-ops too. A refused mutation's layer is dropped, so refused means
// unchanged; when an append is lost to another writer the layers are dropped,
// the pools catch up, and the same mutations run again.
//
// # How a change is told
//
// What a commit did to each task is told once, beside the commit, and pushed
// into a ring when the commit is published, under the same lock. A [Watch] is a
// position in it and pulls at its own pace: from the ring, behind the ring from
// the store, whose commits tell the same. It looks at each change through its
// filter, before and after, so it knows what entered and left its view. One
// channel, closed, wakes all who wait.
//
// # Locking
//
// Pool.mu guards the published state and the ring, and is written by the
// writer's goroutine alone, which may therefore read it without the lock. Nodes, tasks and events
// are immutable once published. Under the lock there is no I/O, no encoding,
// no callback and no log.
package pool

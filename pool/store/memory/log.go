package memory

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// logState is one log. The store's lock guards it; what commits and records
// point to is never changed once there, so it may be read without.
type logState struct {
	head    store.Head
	commits []store.Commit // without a gap; trim and a jump replace it, append only adds behind
	records map[store.Key]record
	due     expiries

	// damaged[:told] was told by a Load or by the caller itself, and is
	// forgotten at the next append.
	damaged []store.Damage
	told    int

	// grown is closed, and replaced, when the log grows.
	grown chan struct{}
}

type record struct {
	value   []byte
	expires time.Time
}

// append takes over commits, which follow the head, or jump from it.
func (l *logState) append(commits []store.Commit, now time.Time) {
	if commits[0].Revision != l.head.Revision+1 {
		l.commits = nil
	}
	l.commits = append(l.commits, commits...)
	for _, c := range commits {
		if c.Reset {
			l.records, l.due = make(map[store.Key]record), nil
		}
		for _, f := range c.Facts {
			l.apply(f)
		}
	}
	l.head = commits[len(commits)-1].Head()
	l.forget(now)
	l.damaged, l.told = l.damaged[l.told:], 0
	close(l.grown)
	l.grown = make(chan struct{})
}

func (l *logState) apply(f store.Fact) {
	if f.Past {
		return
	}
	if f.Gone {
		delete(l.records, f.Key)
		return
	}
	l.records[f.Key] = record{value: f.Value, expires: f.Expires}
	if !f.Expires.IsZero() {
		heap.Push(&l.due, expiry{key: f.Key, at: f.Expires})
	}
}

// forget drops the records that have expired. An expiry whose record was
// written again since is stale and means nothing.
func (l *logState) forget(now time.Time) {
	for len(l.due) > 0 && !l.due[0].at.After(now) {
		e := heap.Pop(&l.due).(expiry)
		if r, ok := l.records[e.key]; ok && r.expires.Equal(e.at) {
			delete(l.records, e.key)
		}
	}
}

type loaded struct {
	key   store.Key
	value []byte
}

// live lists the records that have not expired.
func (l *logState) live(now time.Time) []loaded {
	all := make([]loaded, 0, len(l.records))
	for key, r := range l.records {
		if r.expires.IsZero() || r.expires.After(now) {
			all = append(all, loaded{key: key, value: r.value})
		}
	}
	return all
}

func (l *logState) state() store.State {
	return store.State{
		Head:    l.head,
		Oldest:  l.oldest(),
		Damaged: append([]store.Damage(nil), l.damaged...),
	}
}

func (l *logState) oldest() int64 {
	if len(l.commits) == 0 {
		return l.head.Revision + 1
	}
	return l.commits[0].Revision
}

// from lists the commits from revision rev (at least 1) to the head.
func (l *logState) from(log string, rev int64) ([]store.Commit, error) {
	if rev > l.head.Revision {
		return nil, nil
	}
	oldest := l.oldest()
	if rev < oldest {
		return nil, &store.CompactedError{Log: log, From: rev, Oldest: oldest}
	}
	return l.commits[rev-oldest:], nil
}

func (l *logState) trim(before int64) {
	n := min(before, l.head.Revision) - l.oldest()
	if n <= 0 {
		return
	}
	// Copied, so that the old array goes once its readers have gone.
	l.commits = append([]store.Commit(nil), l.commits[n:]...)
}

func (l *logState) setAside(log string, key store.Key, why string) {
	if _, ok := l.records[key]; !ok {
		return
	}
	delete(l.records, key)
	d := store.Damage{Where: fmt.Sprintf("record %d/%d/%d of log %s", key.Kind, key.ID, key.Sub, log), Why: why}
	// The caller knows of it: it goes in front, among what was told.
	l.damaged = append([]store.Damage{d}, l.damaged...)
	l.told++
}

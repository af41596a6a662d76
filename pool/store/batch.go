package store

import "fmt"

// Check says whether batches are well formed: every one names a log, no log
// comes twice, the revisions follow After without a gap (but for a jump, which
// only the first commit of a batch may make, and only with Reset) and do not pass
// MaxRevision, and no fact that is Past is Gone or Expires. The error wraps
// ErrNotApplied: it is the caller's mistake, and engines ask before they touch
// anything.
func Check(batches []Batch) error {
	for i, b := range batches {
		if b.Log == "" {
			return fmt.Errorf("%w: batch %d names no log", ErrNotApplied, i)
		}
		if b.After < 0 || b.After > MaxRevision {
			return fmt.Errorf("%w: log %s: after revision %d", ErrNotApplied, b.Log, b.After)
		}
		next := b.After + 1
		if b.Jumps() && b.Commits[0].Reset {
			next = b.Commits[0].Revision
		}
		for _, c := range b.Commits {
			if c.Revision != next {
				return fmt.Errorf("%w: log %s: revision %d where %d should follow", ErrNotApplied, b.Log, c.Revision, next)
			}
			if next++; c.Revision > MaxRevision {
				return fmt.Errorf("%w: log %s: revision %d is above %d, the highest", ErrNotApplied, b.Log, c.Revision, int64(MaxRevision))
			}
			if err := checkFacts(c.Facts); err != nil {
				return fmt.Errorf("%w: log %s: revision %d: %w", ErrNotApplied, b.Log, c.Revision, err)
			}
		}
		for _, other := range batches[:i] {
			if other.Log == b.Log {
				return fmt.Errorf("%w: log %s is in two batches", ErrNotApplied, b.Log)
			}
		}
	}
	return nil
}

// Jumps says whether there are revisions between After and the first commit.
func (b Batch) Jumps() bool {
	return len(b.Commits) > 0 && b.Commits[0].Revision > b.After+1
}

// checkFacts refuses what has no binary form.
func checkFacts(facts []Fact) error {
	for i := range facts {
		if f := &facts[i]; f.Past && (f.Gone || !f.Expires.IsZero()) {
			return fmt.Errorf("fact %d is past, and gone or expiring: a past fact is no record that could be", i)
		}
	}
	return nil
}

// CheckSize refuses what takes more than limit bytes; engines ask it for
// MaxAppendBytes. The error wraps ErrNotApplied.
func CheckSize(size, limit int) error {
	if size > limit {
		return fmt.Errorf("%w: the commits take %d bytes, at most %d can be appended at once", ErrNotApplied, size, limit)
	}
	return nil
}

// Head is the head of a log whose last commit is c.
func (c Commit) Head() Head {
	return Head{Revision: c.Revision, Nonce: c.Nonce, At: c.At}
}

// Clone copies c with its facts and values; the values share one buffer, each
// capped at its own end.
func (c Commit) Clone() Commit {
	size := 0
	for i := range c.Facts {
		size += len(c.Facts[i].Value)
	}
	buf := make([]byte, 0, size)
	facts := make([]Fact, len(c.Facts))
	for i, f := range c.Facts {
		if len(f.Value) > 0 {
			start := len(buf)
			buf = append(buf, f.Value...)
			f.Value = buf[start:len(buf):len(buf)]
		}
		facts[i] = f
	}
	if len(facts) == 0 {
		facts = nil
	}
	c.Facts = facts
	return c
}

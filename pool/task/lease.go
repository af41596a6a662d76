package task

import "time"

// A lease is how long a hold lasts without a sign of its holder.
const (
	MinLease = time.Second
	MaxLease = 24 * time.Hour
)

// MaxRunIDLength is how long the name of a dispatch can be, in code points.
const MaxRunIDLength = 128

// MaxExpired holds in a row may run out: with the last of them the task has failed
// and waits for somebody to look at it, lest it costs one worker after the other.
const MaxExpired = 3

// CheckLease checks how long a hold is to last: from MinLease to MaxLease, both
// included; 0, which is none, is for the caller to allow. The field is "lease".
func CheckLease(d time.Duration) Violations {
	var v Violations
	checkLease(&v, "lease", d)
	return v
}

func checkLease(v *Violations, field string, d time.Duration) {
	if d < MinLease || d > MaxLease {
		v.Add(field, "is %s: a lease lasts from 1s to 24h; leave it out for a hold that does not expire", d)
	}
}

// CheckRunID checks the name of a dispatch and gives it trimmed: at most
// MaxRunIDLength code points; it may be empty. The field is "run_id".
func CheckRunID(id string) (string, Violations) {
	var v Violations
	id = textRule{max: MaxRunIDLength, ifLong: "use a shorter one, such as a UUID"}.read(&v, "run_id", id)
	return id, v
}

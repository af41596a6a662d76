package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// How long an answered request_id is known: 24 hours, or until so many newer
// ones came.
const (
	requestTTL  = 24 * time.Hour
	maxRequests = 1_000_000
)

// Request is who asks, and how the same request is known again.
type Request struct {
	// Actor is the member id on whose behalf it is done.
	Actor string
	// ID is the request_id, "" for none. Its scope is pool, actor and method.
	ID string
	// Digest is a hash of the whole request without its ID: the same ID with
	// another digest is refused.
	Digest string
}

// requestKey is the scope of a request_id within a pool.
type requestKey struct{ actor, method, id string }

// request is what is kept of an answered request.
type request struct {
	key    requestKey
	digest string
	// at and revision are of the commit that keeps it, nonce too.
	at       time.Time
	revision int64
	nonce    uint64
	// ids are of the tasks it was about, token the hold it began; note is what
	// else its answer said, JSON, nil for nothing.
	ids   []string
	token string
	note  []byte
}

func (r *request) storeKey() store.Key { return store.Key{Kind: kindRequest, ID: r.revision} }

// requestLog holds the records by key and by age.
type requestLog struct {
	byKey map[requestKey]*request
	// queue is by revision; what lies before first is forgotten.
	queue []*request
	first int
}

func newRequestLog() requestLog { return requestLog{byKey: map[requestKey]*request{}} }

func (l *requestLog) get(k requestKey) *request { return l.byKey[k] }

func (l *requestLog) add(r *request) {
	l.byKey[r.key] = r
	l.queue = append(l.queue, r)
}

// forget lets go of all records up to a revision; a newer one under the key of
// an old one stays.
func (l *requestLog) forget(revision int64) {
	for ; l.first < len(l.queue) && l.queue[l.first].revision <= revision; l.first++ {
		r := l.queue[l.first]
		l.queue[l.first] = nil
		if l.byKey[r.key] == r {
			delete(l.byKey, r.key)
		}
	}
	if l.first > 1024 && l.first > len(l.queue)/2 {
		l.queue = append([]*request(nil), l.queue[l.first:]...)
		l.first = 0
	}
}

// stale returns at most n records above a revision that no longer need to be
// kept, oldest first. They are still known until a commit forgets them, but see
// current.
func (l *requestLog) stale(now time.Time, above int64, n int) []*request {
	live := l.queue[l.first:]
	from, _ := slices.BinarySearchFunc(live, above+1, func(r *request, revision int64) int { return cmp.Compare(r.revision, revision) })
	end := from
	for end < len(live) && end-from < n && (len(live)-end > maxRequests || !live[end].current(now)) {
		end++
	}
	return live[from:end]
}

// current says whether a record still counts at that time.
func (r *request) current(now time.Time) bool { return now.Sub(r.at) < requestTTL }

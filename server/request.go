package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// What the requests of all methods have in common.

// maxRequestID is how long a request_id can be, in code points.
const maxRequestID = 128

// mutation is a request that may carry a request_id.
type mutation interface {
	proto.Message
	GetRequestId() string
}

// requestOf says who asks, and how the same request is known again: by its id
// and by the hash of all of it. Marshalling is deterministic but not the same in
// every version of protobuf, so a repeat that meets an upgraded server may be
// taken for another request: it is refused then, never done twice.
func requestOf(ctx context.Context, m mutation, v *task.Violations) pool.Request {
	r := pool.Request{Actor: actorOf(ctx), ID: m.GetRequestId()}
	if r.ID == "" {
		return r
	}
	if n := task.Length(r.ID); n > maxRequestID {
		v.Add("request_id", "is %d characters long, %d are allowed: a random UUID is best", n, maxRequestID)
	}
	if strings.ContainsRune(r.ID, 0) {
		v.Add("request_id", "holds a NUL character: a random UUID is best")
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil { // it was unmarshalled just now
		v.Add("request_id", "can't be kept: the request is not valid UTF-8")
	}
	sum := sha256.Sum256(b)
	r.Digest = base64.RawURLEncoding.EncodeToString(sum[:])
	return r
}

// invalid is the refusal of a request with violations, nil when there are none.
func invalid(v task.Violations) error {
	if len(v) == 0 {
		return nil
	}
	return &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: v}
}

// violation refuses a request for one thing.
func violation(reason pool.Reason, field, format string, args ...any) error {
	var v task.Violations
	v.Add(field, format, args...)
	return &pool.InvalidError{Reason: reason, Violations: v}
}

// needID reports an id that is not there.
func needID(v *task.Violations, id string) {
	if id == "" {
		v.Add("id", "is empty: %s", task.ReferenceHelp)
	}
}

// checkView refuses a view that there is none of.
func checkView(v *task.Violations, view taskpoolv1.TaskView) {
	if _, known := taskpoolv1.TaskView_name[int32(view)]; !known {
		v.Add("view", "has the unknown value %d: use preview, full or compact, or leave it out", view)
	}
}

// poolName is the name of the pool that a request means.
func poolName(name string) string { return orDefault(name, pool.DefaultName) }

// The sizes of pages.
const (
	defaultPageSize = 50
	maxPageSize     = 1000
)

// pageSize reads how many items a page is to have.
func pageSize(v *task.Violations, field string, size int32) int {
	switch {
	case size < 0:
		v.Add(field, "is negative: leave it out for %d, or ask for 1 to %d", defaultPageSize, maxPageSize)
	case size == 0:
		return defaultPageSize
	}
	return int(min(size, maxPageSize))
}

// The sizes of pages in bytes, encoded.
const (
	defaultPageBytes = 4 << 20
	maxPageBytes     = 12 << 20
)

// pageBytes reads how large a page may get.
func pageBytes(v *task.Violations, field string, size int32) int {
	switch {
	case size < 0:
		v.Add(field, "is negative: leave it out for %d bytes, or ask for at most %d", defaultPageBytes, maxPageBytes)
	case size == 0:
		return defaultPageBytes
	}
	return int(min(size, maxPageBytes))
}

// fitting is how many of the items fit into that many bytes; at least one.
func fitting[M proto.Message](items []M, most int) int {
	size := 0
	for i, m := range items {
		if size += proto.Size(m) + 6; i > 0 && size > most { // 6: tag and length
			return i
		}
	}
	return len(items)
}

// atLeast refuses to answer from a pool that is not at a caller's cursor yet, or
// will never be.
func atLeast(ctx context.Context, p *pool.Pool, cursor string) error {
	if cursor == "" {
		return nil
	}
	c, err := feed.Parse(cursor)
	if err != nil {
		return violation(pool.ReasonMalformedCursor, "at_least_cursor", "is no cursor of this service: send one back as it was given, or leave it out")
	}
	return p.Check(ctx, c)
}

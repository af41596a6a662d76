package pool

import (
	"context"
	"regexp"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// poolName is what a pool may be called.
var poolName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CreatePool makes a new pool. replayed tells that this request made it before.
// Errors: *InvalidError, *ExistsError, *LaterError.
func (r *Registry) CreatePool(ctx context.Context, req Request, info Info) (made Info, replayed bool, err error) {
	if !poolName.MatchString(info.Name) {
		return Info{}, false, invalid("name", "%q is not a pool's name: 1 to 63 lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit", task.Preview(info.Name, 80))
	}
	if v := info.Limits.Check(); len(v) > 0 {
		return Info{}, false, &InvalidError{Reason: ReasonInvalidField, Violations: v.At("limits")}
	}
	if info.Rules.ReviewDefault != task.ReviewByNobody {
		return Info{}, false, &LaterError{Feature: "review", Field: "review_default"}
	}
	var out struct { // the job's alone until it is answered: the caller may leave before
		made     Info
		replayed bool
	}
	j := &job{ctx: ctx, ledger: r.catalog}
	j.run = func(o overlay, revision int64, now time.Time) (commit *store.Commit, err error) {
		out.made, out.replayed, commit, err = o.(*catalogOverlay).create(req, info, revision, now)
		return commit, err
	}
	if err := r.writer.do(j); err != nil {
		return Info{}, false, err
	}
	return out.made, out.replayed, nil
}

// Pool returns what is known of a pool without opening it.
func (r *Registry) Pool(name string) (Info, error) {
	if name == "" {
		name = DefaultName
	}
	info, ok := r.catalog.info(name)
	if !ok {
		return Info{}, &NotFoundError{Reason: ReasonPoolNotFound, What: "pool", Name: name}
	}
	return info, nil
}

// Limits are those that a pool has when it is opened now.
func (r *Registry) Limits(info Info) task.Limits {
	return task.ResolveLimits(info.Limits, r.cfg.Getenv)
}

// Pools lists pools by name, at most size, after the one named ("": from the
// first), and says whether there are more.
func (r *Registry) Pools(after string, size int) (infos []Info, more bool) {
	return r.catalog.page(after, size)
}

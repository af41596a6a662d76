package pool

import (
	"context"
	"errors"
	"strconv"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// LoadOptions say what [Load] loads a file into. Config's Store and Codec are
// required.
type LoadOptions struct {
	Config
	// Pool is the name of the pool, which is made when there is none such; "":
	// [DefaultName].
	Pool string
	// Actor holds the tasks that are in progress; "": the operator.
	Actor string
	// Limits win over the environment's. A pool that was made with limits of its
	// own keeps those.
	Limits task.LimitOptions
}

// Loaded is a pool that [Load] opened for its caller alone. It is a *Pool until
// Close.
type Loaded struct {
	*Pool
	// Report says what became of the file.
	Report LoadReport

	registry *Registry
	release  func()
}

// Load opens a pool over a store and loads a file of llm-chat-task's format into
// it, as [Pool.LoadFile] does: what the store had of that pool is replaced. Where
// that is refused nothing stays open.
//
// The store belongs to the caller, who closes it after the Loaded, and opens
// nothing else over it meanwhile unless it is a shared one. Nothing is written
// back to the file but by [Pool.Save].
//
// Errors: those of LoadFile, but for *DeniedError; of Open, Acquire and
// CreatePool; *InvalidError for the options.
func Load(ctx context.Context, path string, o LoadOptions) (*Loaded, error) {
	if o.Store == nil || o.Codec == nil {
		return nil, errors.New("pool: Load needs a Store and a Codec")
	}
	if o.Actor == "" {
		o.Actor = task.Operator
	}
	if !task.ValidMember(o.Actor) || o.Actor == task.SystemPool {
		return nil, invalid("actor", "%q can hold no tasks; use agent:NAME, ext:NAME or human", task.Preview(o.Actor, 80))
	}
	if v := o.Limits.Check(); len(v) > 0 {
		return nil, &InvalidError{Reason: ReasonInvalidField, Violations: v.At("limits")}
	}
	o.Getenv = o.lookup(o.Getenv)
	registry, err := Open(ctx, o.Config)
	if err != nil {
		return nil, err
	}
	l := &Loaded{registry: registry, release: func() {}}
	if err := l.load(ctx, path, o); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *Loaded) load(ctx context.Context, path string, o LoadOptions) error {
	if _, err := l.registry.Pool(o.Pool); errors.As(err, new(*NotFoundError)) {
		_, _, err := l.registry.CreatePool(ctx, Request{Actor: o.Actor}, Info{Name: o.Pool, Limits: o.Limits})
		if err != nil && !errors.As(err, new(*ExistsError)) { // another process may have been first
			return err
		}
	}
	p, release, err := l.registry.Acquire(ctx, o.Pool)
	if err != nil {
		return err
	}
	l.Pool, l.release = p, release
	l.Report, err = p.loadFile(ctx, Request{Actor: o.Actor}, path)
	return err
}

// lookup finds a limit among the options before the environment.
func (o LoadOptions) lookup(getenv func(string) (string, bool)) func(string) (string, bool) {
	byVariable := make(map[string]string, len(o.Limits))
	for name, value := range o.Limits {
		if variable, ok := task.LimitVariable(name); ok {
			byVariable[variable] = strconv.FormatInt(value, 10)
		}
	}
	return func(variable string) (string, bool) {
		if value, ok := byVariable[variable]; ok {
			return value, true
		}
		if getenv == nil {
			return "", false
		}
		return getenv(variable)
	}
}

// Close ends what Load opened, the store excepted. The Pool takes no changes from
// then on. Idempotent.
func (l *Loaded) Close() {
	l.release()
	l.registry.Close()
}

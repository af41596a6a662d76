package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// systemLog holds what is of no single pool; poolLog names a pool's own log.
const systemLog = "system"

func poolLog(name string) string { return "pool/" + name }

// DefaultName is the one pool that needs no creation.
const DefaultName = "default"

// Info is what is known of a pool without opening it.
type Info struct {
	Name string
	// Limits are those set explicitly; the others come from the environment.
	Limits task.LimitOptions
	Rules  task.Rules
	// CreatedAt is zero for the default pool.
	CreatedAt time.Time
}

// poolRecord is a pool in the system log.
type poolRecord struct {
	Name          string            `json:"name"`
	Limits        task.LimitOptions `json:"limits,omitempty"`
	EditRule      string            `json:"edit_rule,omitempty"`
	ReviewDefault string            `json:"review_default,omitempty"`
	CreatedAt     time.Time         `json:"created_at"`
}

func (r poolRecord) info() Info {
	rule, _ := task.ParseEditRule(r.EditRule)
	review, _ := task.ParseReviewDefault(r.ReviewDefault)
	return Info{Name: r.Name, Limits: r.Limits, Rules: task.Rules{EditRule: rule, ReviewDefault: review}, CreatedAt: r.CreatedAt}
}

// catalog is the list of pools, the state of the system log. It is a ledger:
// the writer alone changes it, under mu.
type catalog struct {
	store store.Store
	// damaged is told of what a load set aside.
	damaged func([]store.Damage)

	mu       sync.RWMutex
	head     store.Head
	pools    btree.Map[string, Info]
	numbers  int64
	requests requestLog
}

func (c *catalog) log() string { return systemLog }

func (c *catalog) published() store.Head { return c.head }

// heads is published for those who are not the writer.
func (c *catalog) heads() store.Head {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.head
}

func (c *catalog) begin() overlay {
	return &catalogOverlay{catalog: c, numbers: c.numbers, pools: map[string]Info{}, asked: map[requestKey]*request{}}
}

// catalogOverlay is a batch's changes to the catalog.
type catalogOverlay struct {
	catalog *catalog
	numbers int64
	pools   map[string]Info
	asked   map[requestKey]*request
}

func (o *catalogOverlay) settle() {}

func (o *catalogOverlay) publish(head store.Head) {
	c := o.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, info := range o.pools {
		c.pools.Set(name, info)
	}
	for _, r := range o.asked {
		c.requests.add(r)
	}
	c.numbers, c.head = o.numbers, head
}

func (o *catalogOverlay) request(k requestKey) *request {
	if r := o.asked[k]; r != nil {
		return r
	}
	return o.catalog.requests.get(k)
}

// load reads the catalog anew. What of it is damaged is set aside and told.
func (c *catalog) load(ctx context.Context) error {
	fresh := &catalogOverlay{catalog: &catalog{requests: newRequestLog()}, pools: map[string]Info{}, asked: map[requestKey]*request{}}
	var unread []unreadable
	at, err := c.store.Load(ctx, systemLog, func(key store.Key, value []byte) error {
		if err := fresh.replay(store.Fact{Key: key, Value: value}); err != nil {
			unread = append(unread, unreadable{key, err})
		}
		return nil
	})
	if err != nil {
		return err
	}
	damage := at.Damaged
	for _, u := range unread {
		if err := c.store.SetAside(ctx, systemLog, u.key, u.why.Error()); err != nil {
			return err
		}
		damage = append(damage, u.damage(systemLog))
	}
	fresh.publish(at.Head)
	c.damaged(damage)
	c.mu.Lock()
	defer c.mu.Unlock()
	from := fresh.catalog
	c.head, c.pools, c.numbers, c.requests = from.head, from.pools, from.numbers, from.requests
	return nil
}

func (c *catalog) catchUp(ctx context.Context) error {
	for commit, err := range c.store.Commits(ctx, systemLog, c.head.Revision+1) {
		if errors.Is(err, store.ErrCompacted) {
			return c.load(ctx)
		}
		if err != nil {
			return err
		}
		o := c.begin().(*catalogOverlay)
		for _, f := range commit.Facts {
			if err := o.replay(f); err != nil {
				return fmt.Errorf("%s: revision %d: %w", systemLog, commit.Revision, err)
			}
		}
		o.publish(commit.Head())
	}
	return nil
}

func (o *catalogOverlay) replay(f store.Fact) error {
	switch {
	case f.Gone:
	case f.Key.Kind == kindPool:
		r, err := decodeRecord[poolRecord](f.Value)
		if err != nil {
			return err
		}
		o.pools[r.Name] = r.info()
		o.numbers = max(o.numbers, f.Key.ID)
	case f.Key.Kind == kindRequest:
		r, err := decodeRecord[requestRecord](f.Value)
		if err != nil {
			return err
		}
		kept := r.request(f.Key.ID)
		o.asked[kept.key] = kept
	}
	return nil
}

// info returns what the catalog knows of a pool.
func (c *catalog) info(name string) (Info, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	info, ok := c.pools.Get(name)
	if !ok && name == DefaultName {
		return Info{Name: DefaultName}, true
	}
	return info, ok
}

// page lists pools by name, after the one named, the default pool among them.
func (c *catalog) page(after string, size int) (infos []Info, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	add := func(info Info) bool {
		if more = len(infos) == size; more {
			return false
		}
		infos = append(infos, info)
		return true
	}
	met := after >= DefaultName
	c.pools.Ascend(after, func(name string, info Info) bool {
		if name == after {
			return true
		}
		if !met && name > DefaultName {
			met = true
			if !add(Info{Name: DefaultName}) {
				return false
			}
		}
		return add(info)
	})
	if !met && !more {
		add(Info{Name: DefaultName})
	}
	return infos, more
}

// create runs a CreatePool.
func (o *catalogOverlay) create(r Request, info Info, revision int64, now time.Time) (made Info, replayed bool, commit *store.Commit, err error) {
	key := requestKey{r.Actor, "CreatePool", r.ID}
	if old := o.request(key); r.ID != "" && old != nil && old.current(now) {
		if old.digest != r.Digest {
			return info, false, nil, &ReusedError{RequestID: r.ID}
		}
		made, _ := o.find(info.Name)
		return made, true, nil, nil
	}
	if _, exists := o.find(info.Name); exists {
		return info, false, nil, &ExistsError{Name: info.Name}
	}
	info.CreatedAt = now
	o.numbers++
	record := poolRecord{
		Name: info.Name, Limits: info.Limits, EditRule: info.Rules.EditRule.String(),
		ReviewDefault: info.Rules.ReviewDefault.String(), CreatedAt: now,
	}
	value, err := encodeRecord(record)
	if err != nil {
		return info, false, nil, err
	}
	commit = &store.Commit{Revision: revision, Nonce: rand.Uint64(), At: now}
	commit.Facts = append(commit.Facts, store.Fact{Key: store.Key{Kind: kindPool, ID: o.numbers}, Value: value})
	if r.ID != "" {
		asked := &request{key: key, digest: r.Digest, at: now, revision: revision, nonce: commit.Nonce}
		if value, err = encodeRecord(asked.record()); err != nil {
			return info, false, nil, err
		}
		commit.Facts = append(commit.Facts, store.Fact{Key: asked.storeKey(), Value: value, Expires: now.Add(requestTTL)})
		o.asked[key] = asked
	}
	o.pools[info.Name] = info
	return info, false, commit, nil
}

func (o *catalogOverlay) find(name string) (Info, bool) {
	if info, ok := o.pools[name]; ok {
		return info, true
	}
	if info, ok := o.catalog.pools.Get(name); ok {
		return info, true
	}
	return Info{}, name == DefaultName
}

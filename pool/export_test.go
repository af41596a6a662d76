package pool

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// State writes all that a pool knows, also what no reader sees: hold tokens,
// request records, the last numbers given out. Pools over the same commits
// write the same, however they came by them.
func (p *Pool) State() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.state.String()
}

func (s *state) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %s head %d/%x at %s number %d event %d\n", s.epoch, s.head.Revision, s.head.Nonce, instant(s.head.At), s.number, s.event)
	s.table.Scan(func(_ int64, n *node) bool {
		writeNode(&b, n)
		return true
	})
	for _, status := range task.Statuses() {
		fmt.Fprintf(&b, "%s %v\n", status, s.byStatus[status].Keys())
	}
	s.waiting.Scan(func(w waiting) bool {
		fmt.Fprintf(&b, "T-%d waits until %s\n", w.number, instant(w.until))
		return true
	})
	for _, r := range s.requests.live() {
		fmt.Fprintf(&b, "request %v digest %q at %s revision %d nonce %x ids %v token %q\n", r.key, r.digest, instant(r.at), r.revision, r.nonce, r.ids, r.token)
	}
	return b.String()
}

func writeNode(b *strings.Builder, n *node) {
	t, brief := *n.task, *n.task.Brief.Unpack()
	t.Brief = ""
	times := []*time.Time{&t.CreatedAt, &t.UpdatedAt, &t.ClosedAt, &t.HeldAt, &t.NotBefore}
	var shown []string
	for _, at := range times {
		shown = append(shown, instant(*at))
		*at = time.Time{}
	}
	fmt.Fprintf(b, "%+v %+v %v dependents %v children %v token %q\n", t, brief, shown, n.dependents, n.children, n.held().token)
	for _, e := range n.thread {
		fmt.Fprintf(b, "  %d %s %s %s %q %+v %s\n", e.ID, instant(e.At), e.Actor, e.Kind, e.Body, e.Detail, e.TaskID)
	}
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// live lists the records that are known, by revision.
func (l *requestLog) live() []*request {
	var live []*request
	for _, r := range l.byKey {
		live = append(live, r)
	}
	slices.SortFunc(live, func(a, b *request) int { return cmp.Compare(a.revision, b.revision) })
	return live
}

// Unsound says where the state contradicts itself, "" when nowhere: indexes,
// edges seen from both ends, the order of nodes, what is derived, and holds.
func (p *Pool) Unsound() string { return p.unsound(true) }

// UnsoundButHolds is Unsound that does not look at holds and closings, which
// nothing around a task tells.
func (p *Pool) UnsoundButHolds() string { return p.unsound(false) }

func (p *Pool) unsound(holds bool) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	s := p.state
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	tasks, waits := 0, 0
	s.table.Scan(func(number int64, n *node) bool {
		tasks++
		t := n.task
		if why := s.unsound(n); why != "" {
			say("%s: %s", t.Key(), why)
		}
		if t.Number != number || number > s.number || s.node(t.ID) != n {
			say("%s is not where its number %d and id %s lead", t.Key(), number, t.ID)
		}
		if _, there := s.byStatus[t.Status].Get(number); !there {
			say("%s is not among those that are %s", t.Key(), t.Status)
		}
		if w, ok := waitsFor(t); ok {
			waits++
			if _, there := s.waiting.Get(w); !there {
				say("%s is not among those that wait", t.Key())
			}
		}
		for id := range n.needs() {
			if need := s.node(id); need == nil || need.order >= n.order {
				say("%s needs %s, which is not before it", t.Key(), id)
			}
		}
		for _, id := range t.Dependencies {
			if dep := s.node(id); dep != nil && !slices.Contains(dep.dependents, t.ID) {
				say("%s does not know its dependent %s", dep.task.Key(), t.Key())
			}
		}
		if parent := s.node(t.ParentID); parent != nil && !slices.Contains(parent.children, t.ID) {
			say("%s does not know its child %s", parent.task.Key(), t.Key())
		}
		for _, ids := range [][]string{n.dependents, n.children} {
			last := int64(0)
			for _, id := range ids {
				if r := s.node(id); r == nil || r.task.Number <= last || !slices.Contains(r.task.Dependencies, t.ID) && r.task.ParentID != t.ID {
					say("%s has a dependent or child %s that is none, or out of order", t.Key(), id)
				} else {
					last = r.task.Number
				}
			}
		}
		if _, _, open := n.countChildren(s); open != t.ChildrenOpen {
			say("%s counts %d open children of %d", t.Key(), t.ChildrenOpen, open)
		}
		if t.EventCount != len(n.thread) || !slices.IsSortedFunc(n.thread, func(a, b *task.Event) int { return cmp.Compare(a.ID, b.ID) }) {
			say("%s counts %d events of %d, or they are out of order", t.Key(), t.EventCount, len(n.thread))
		}
		if !holds {
			return true
		}
		if (t.Holder != "") != (t.Status == task.InProgress) || (t.Holder != "") != (n.held().token != "") {
			say("%s is %s, held by %q, with token %q", t.Key(), t.Status, t.Holder, n.held().token)
		}
		if t.Closed() == t.ClosedAt.IsZero() {
			say("%s is %s, closed at %s", t.Key(), t.Status, t.ClosedAt)
		}
		return true
	})
	indexed := 0
	for i := range s.byStatus {
		indexed += s.byStatus[i].Len()
	}
	ranked, claimable := 0, 0
	for _, of := range s.ranking {
		ranked += of.Len()
	}
	s.table.Scan(func(_ int64, n *node) bool {
		height := 0
		for by := range n.neededBy() {
			if d := s.node(by); d != nil && !d.task.Closed() {
				height = min(max(height, d.height+1), maxHeight)
			}
		}
		if height != n.height {
			say("%s has the height %d, and %d follows", n.task.Key(), n.height, height)
		}
		if by, place, ok := rankOf(n); ok {
			claimable++
			if of := s.ranking[by]; of == nil {
				say("%s is not ranked", n.task.Key())
			} else if _, there := of.Get(place); !there {
				say("%s is ranked otherwise than %+v", n.task.Key(), place)
			}
		}
		return true
	})
	if ranked != claimable {
		say("%d are ranked, %d can be claimed", ranked, claimable)
	}
	ids := len(s.ids.alone)
	for _, many := range s.ids.crowded {
		ids += len(many)
	}
	if indexed != tasks || ids != tasks || s.waiting.Len() != waits {
		say("%d tasks, %d by status, %d by id; %d wait, %d in that index", tasks, indexed, ids, waits, s.waiting.Len())
	}
	return strings.Join(wrong, "\n")
}

// Replayed is a pool that came to its state by the commits from the first.
func Replayed(ctx context.Context, s store.Store, codec Codec, like *Pool) (*Pool, error) {
	p := &Pool{name: like.name, limits: like.limits, rules: like.rules, codec: codec, store: s, state: newState(), alarm: &alarm{}, line: newLine()}
	p.alarm.stop()
	return p, p.catchUp(ctx)
}

// Refresh lets the pool catch up with what others appended.
func (p *Pool) Refresh(ctx context.Context) error {
	return p.writer.do(&job{ctx: ctx, ledger: p, refresh: true})
}

// AwaitQueue returns when that many mutations wait for the writer.
func (p *Pool) AwaitQueue(n int) {
	for len(p.writer.queue) < n {
		runtime.Gosched()
	}
}

// KnownRequests is how many request records are held, expired ones too.
func (p *Pool) KnownRequests() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.state.requests.queue) - p.state.requests.first
}

// AwaitRevision returns when the pool is at a revision.
func (p *Pool) AwaitRevision(revision int64) {
	for p.heads().Revision < revision {
		runtime.Gosched()
	}
}

// Content is a replacement, for tests.
type Content struct {
	Tasks                           []*task.Task
	Threads                         map[string][]*task.Event
	LastNumber, LastEvent, Revision int64
}

// Replace replaces the pool's content, unless refused says why not.
func (p *Pool) Replace(ctx context.Context, r Request, refused error, content func() Content) (Result, error) {
	return p.replace(ctx, "Replace", r, func(*state) error { return refused }, func(time.Time) (*replacement, error) {
		c := content()
		return &replacement{tasks: c.Tasks, threads: c.Threads, lastNumber: c.LastNumber, lastEvent: c.LastEvent, revision: c.Revision}, nil
	})
}

// MatchesPast says whether a filter selects a task, and whether it selects what
// history keeps of it.
func (p *Pool) MatchesPast(f Filter, actor string, t *task.Task, codec Codec) (whole, kept bool, err error) {
	_, match, err := p.look(f, actor)
	if err != nil {
		return false, false, err
	}
	b, err := codec.EncodeTask(past(t))
	if err != nil {
		return false, false, err
	}
	read, err := codec.DecodeTask(b)
	if err != nil {
		return false, false, err
	}
	return match.matches(t), match.matches(read), nil
}

// Told writes what the ring holds of a commit, and what the commit itself tells.
func (p *Pool) Told(c store.Commit, codec Codec) (beside, later string, err error) {
	var one [1]*told
	p.mu.RLock()
	n, ok := p.ring.Read(one[:], c.Revision)
	p.mu.RUnlock()
	if !ok || n == 0 {
		return "not in the ring", "", nil
	}
	read, err := tell(c, codec)
	if err != nil {
		return "", "", err
	}
	return one[0].text(codec), read.text(codec), nil
}

func (t *told) text(codec Codec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %x by %s, %d bytes\n", t.revision, t.nonce, t.actor, t.size)
	for i := range t.changes {
		c := &t.changes[i]
		fmt.Fprintf(&b, "  %s direct %v: %x", c.id, c.direct(), t.element(codec, &strip{}, i))
		if c.before != nil {
			was, _ := codec.EncodeTask(past(c.before))
			fmt.Fprintf(&b, " before %x", was)
		}
		if c.after != nil {
			is, _ := codec.EncodeTask(c.after)
			fmt.Fprintf(&b, " after %x", is)
		}
		fmt.Fprintf(&b, " %d events\n", len(c.events))
	}
	return b.String()
}

// SealWhole is the size of the commit that would make the pool that content, if
// it may take that many bytes.
func (p *Pool) SealWhole(c Content, most int) (int, error) {
	fresh, err := (&replacement{tasks: c.Tasks, threads: c.Threads}).state(marks{}, 1, time.Now())
	if err != nil {
		return 0, err
	}
	tx := newTx(p, newLayer(fresh, fresh.marks), task.Operator, 1, time.Now())
	tx.published, tx.epoch = fresh, newEpoch()
	facts, err := factsOfAll(fresh, p.codec, most)
	if err != nil {
		return 0, err
	}
	commit, err := tx.sealWhole(facts, most)
	if err != nil {
		return 0, err
	}
	return store.EncodedSize([]store.Commit{*commit}), nil
}

// Token is that of the hold of a task, "" for none.
func (p *Pool) Token(id string) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.state.node(id).held().token
}

// Ahead is how many commits a watch holds that it has not looked at.
func (w *Watch) Ahead() int {
	n := 0
	for _, t := range w.room {
		if t != nil {
			n++
		}
	}
	return n
}

// CatchUp reads what others appended.
func (p *Pool) CatchUp(ctx context.Context) error {
	return p.writer.do(&job{ctx: ctx, ledger: p, refresh: true})
}

// Waiting is how many claims wait.
func (p *Pool) Waiting() int { return p.line.len() }

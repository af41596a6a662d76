package feed

// The bounds of a [Ring] that was given none.
const (
	DefaultEntries = 8192
	DefaultBytes   = 32 << 20
)

// firstEntries is what a ring makes room for when the first entry comes.
const firstEntries = 64

// Ring keeps the newest entries of a feed, by revision and without a gap. It is
// bounded by the number of its entries and by their bytes; what no longer fits
// goes at the old end, the newest entry always stays. Readers hold nothing but a
// revision, so a slow one costs the ring nothing and simply falls out of it.
//
// The zero value is an empty ring that begins with whatever is pushed first. A
// Ring has no lock: whoever owns it guards it. Entries are shared with their
// readers and must not change.
type Ring[E any] struct {
	// Entries and Bytes are the bounds; 0: the defaults.
	Entries, Bytes int

	// kept holds the entry of a revision at that revision modulo its length.
	kept []kept[E]
	// first is the revision of the oldest entry, next that of the one to come.
	first, next int64
	bytes       int
}

type kept[E any] struct {
	entry E
	size  int
}

// Push adds the entry of a revision, of about so many bytes. One that does not
// follow the newest entry begins the ring anew: it never has a gap.
func (r *Ring[E]) Push(revision int64, entry E, size int) {
	if revision != r.next {
		r.Reset(revision - 1)
	}
	if int(r.next-r.first) == len(r.kept) {
		r.makeRoom()
	}
	*r.slot(revision) = kept[E]{entry, size}
	r.next++
	r.bytes += size
	for r.bytes > orDefault(r.Bytes, DefaultBytes) && r.next-r.first > 1 {
		r.drop()
	}
}

// Reset lets go of everything. head is the revision before the next one.
func (r *Ring[E]) Reset(head int64) {
	r.kept, r.bytes = nil, 0
	r.first, r.next = head+1, head+1
}

// Read copies the entries from a revision on into dst, as many as there are and
// fit. It is false when the ring no longer has that revision.
func (r *Ring[E]) Read(dst []E, from int64) (n int, ok bool) {
	if from < r.first {
		return 0, false
	}
	for ; n < len(dst) && from < r.next; n++ {
		dst[n] = r.slot(from).entry
		from++
	}
	return n, true
}

// makeRoom doubles the ring, or lets go of the oldest entry where it is as large
// as it may be.
func (r *Ring[E]) makeRoom() {
	most := orDefault(r.Entries, DefaultEntries)
	if len(r.kept) >= most {
		r.drop()
		return
	}
	larger := Ring[E]{kept: make([]kept[E], min(max(2*len(r.kept), firstEntries), most))}
	for revision := r.first; revision < r.next; revision++ {
		*larger.slot(revision) = *r.slot(revision)
	}
	r.kept = larger.kept
}

func (r *Ring[E]) drop() {
	oldest := r.slot(r.first)
	r.bytes -= oldest.size
	*oldest = kept[E]{}
	r.first++
}

func (r *Ring[E]) slot(revision int64) *kept[E] { return &r.kept[revision%int64(len(r.kept))] }

func orDefault(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

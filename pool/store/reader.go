package store

import (
	"encoding/binary"
	"time"
)

// reader takes fields off the front of b. After the first that isn't there, or
// isn't in its one allowed form, bad is set and everything reads as zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

// flags reads a byte in which no bit but those of known may be set.
func (r *reader) flags(known byte) byte {
	v := r.byte()
	if v&^known != 0 {
		r.fail()
		return 0
	}
	return v
}

func (r *reader) uint64() uint64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

// uvarint refuses a number that was written longer than it needs to be.
func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 1 && r.b[n-1] == 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

func (r *reader) time() time.Time {
	sec, nsec := r.varint(), r.uvarint()
	if nsec >= 1e9 {
		r.fail()
		return time.Time{}
	}
	return time.Unix(sec, int64(nsec)).UTC()
}

// count reads how many things follow, each of at least least bytes.
func (r *reader) count(least int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/least) {
		r.fail()
		return 0
	}
	return int(n)
}

// take cuts off n bytes; the slice can't grow into what follows.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	if n == 0 {
		return nil
	}
	return v
}

func (r *reader) commit() Commit {
	c := Commit{Revision: r.varint(), Nonce: r.uint64(), At: r.time()}
	c.Reset = r.flags(flagReset)&flagReset != 0
	n := r.count(minFact)
	if n == 0 {
		return c
	}
	c.Facts = make([]Fact, 0, n)
	for range n {
		c.Facts = append(c.Facts, r.fact())
		if r.bad {
			break
		}
	}
	return c
}

func (r *reader) fact() Fact {
	flags := r.flags(flagGone | flagExpires | flagPast)
	if flags&flagPast != 0 && flags != flagPast {
		r.fail()
	}
	f := Fact{Gone: flags&flagGone != 0, Past: flags&flagPast != 0}
	f.Key = Key{Kind: r.byte(), ID: r.varint(), Sub: r.varint()}
	if flags&flagExpires != 0 {
		f.Expires = r.time()
		if f.Expires.IsZero() {
			r.fail()
		}
	}
	if !f.Gone {
		f.Value = r.take(r.uvarint())
	}
	return f
}

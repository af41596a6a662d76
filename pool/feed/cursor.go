// Package feed has the positions in a pool's feed of changes, and the ring that
// holds its newest part.
package feed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrMalformed: a text is no cursor that this service ever gave.
var ErrMalformed = errors.New("not a cursor of this service; pass one back exactly as it was given")

// Cursor is a position in a pool's feed: after the commit of Revision. It is
// opaque to callers, who keep its String.
type Cursor struct {
	// Epoch tells the histories of one pool apart: clearing and restoring start
	// a new one.
	Epoch string
	// Revision is the last one that lies before this position; 0 is before all.
	Revision int64
	// Nonce is that of the commit at Revision, so that a restored backup whose
	// revisions were given out again is noticed.
	Nonce uint64
	// Filter is the hash of the filter that the position was reached under; 0
	// for one from a mutation or read, which fits any filter.
	Filter uint32
}

const cursorVersion = 1

// String returns the opaque text: URL-safe, without padding, below 80 bytes.
func (c Cursor) String() string {
	b := make([]byte, 0, 64)
	b = append(b, cursorVersion, byte(len(c.Epoch)))
	b = append(b, c.Epoch...)
	b = binary.AppendUvarint(b, uint64(c.Revision))
	b = binary.BigEndian.AppendUint64(b, c.Nonce)
	b = binary.BigEndian.AppendUint32(b, c.Filter)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// Parse reads what String wrote; anything else is [ErrMalformed]. The checksum
// finds cursors that were cut or mixed up; it is no protection against forging,
// which would only show a caller another position of a feed it may read.
func Parse(s string) (Cursor, error) {
	if len(s) > 128 {
		return Cursor{}, ErrMalformed
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 2+1+8+4+4 || b[0] != cursorVersion {
		return Cursor{}, ErrMalformed
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return Cursor{}, ErrMalformed
	}
	n := int(body[1])
	rest := body[2:]
	if len(rest) < n {
		return Cursor{}, ErrMalformed
	}
	c := Cursor{Epoch: string(rest[:n])}
	rest = rest[n:]
	revision, used := binary.Uvarint(rest)
	if used <= 0 || revision > 1<<62 || len(rest)-used != 12 {
		return Cursor{}, ErrMalformed
	}
	c.Revision = int64(revision)
	c.Nonce = binary.BigEndian.Uint64(rest[used:])
	c.Filter = binary.BigEndian.Uint32(rest[used+8:])
	if c.String() != s { // one text for one position
		return Cursor{}, ErrMalformed
	}
	return c, nil
}

package sqlite

import (
	"encoding/binary"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// encodeSpan is the entries column of a span: some journal rows of one log, in
// order, written down so that opening need not look for them. A checksum over
// the key and all comes first; then each row as the distance of its seq from
// that of the row before, the distance of its first revision from the last one
// before, and how many follow the first.
func encodeSpan(log int64, rows []rowRef) []byte {
	b := make([]byte, 4, 4+6*len(rows))
	var seq, last int64
	for _, r := range rows {
		b = binary.AppendVarint(b, r.seq-seq)
		b = binary.AppendVarint(b, r.first-last)
		b = binary.AppendVarint(b, r.last-r.first)
		seq, last = r.seq, r.last
	}
	binary.LittleEndian.PutUint32(b, store.Checksum(integers(log, seq), b[4:]))
	return b
}

// decodeSpan reads what encodeSpan wrote for the span at (log, seq).
func decodeSpan(log, seq int64, b []byte) ([]rowRef, error) {
	if len(b) < 4 || store.Checksum(integers(log, seq), b[4:]) != binary.LittleEndian.Uint32(b) {
		return nil, fmt.Errorf("%w: span %d of log %d", store.ErrCorrupt, seq, log)
	}
	var rows []rowRef
	var at rowRef
	for b = b[4:]; len(b) > 0; {
		var d [3]int64
		for i := range d {
			v, n := binary.Varint(b)
			if n <= 0 {
				return nil, fmt.Errorf("%w: span %d of log %d", store.ErrCorrupt, seq, log)
			}
			d[i], b = v, b[n:]
		}
		at.seq += d[0]
		at.first = at.last + d[1]
		at.last = at.first + d[2]
		rows = append(rows, at)
	}
	return rows, nil
}

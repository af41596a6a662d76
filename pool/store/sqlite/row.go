package sqlite

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// The payload of a journal row: what the row is, and the commits, each with a
// checksum of its own. So a flipped column is told from flipped commits, and
// the commits of another row can't pass for this one's.
//
//	version (1) | log (8) | seq (8) | CRC-32C of these (4) | EncodeCommits
const (
	rowVersion = 1
	rowHeader  = 1 + 8 + 8 + 4
)

// newRow encodes commits, whose EncodedSize is size, with room in front for the
// header, which is known only under the turn.
func newRow(commits []store.Commit, size int) []byte {
	b := make([]byte, rowHeader, rowHeader+size)
	return store.EncodeCommits(b, commits)
}

func sealRow(payload []byte, log, seq int64) {
	payload[0] = rowVersion
	binary.LittleEndian.PutUint64(payload[1:], uint64(log))
	binary.LittleEndian.PutUint64(payload[9:], uint64(seq))
	binary.LittleEndian.PutUint32(payload[17:], store.Checksum(payload[:17]))
}

// openRow reads a payload that may be any row's. The commits alias it.
func openRow(payload []byte) (log, seq int64, commits []store.Commit, err error) {
	if len(payload) < rowHeader || payload[0] != rowVersion ||
		store.Checksum(payload[:17]) != binary.LittleEndian.Uint32(payload[17:]) {
		return 0, 0, nil, fmt.Errorf("%w: the header of the journal row", store.ErrCorrupt)
	}
	log = int64(binary.LittleEndian.Uint64(payload[1:]))
	seq = int64(binary.LittleEndian.Uint64(payload[9:]))
	commits, err = store.DecodeCommits(payload[rowHeader:])
	if err == nil && len(commits) == 0 {
		err = fmt.Errorf("%w: a journal row without commits", store.ErrCorrupt)
	}
	return log, seq, commits, err
}

// decodeRow reads the payload of the row that ref says it is, of the log with
// id want.
func decodeRow(payload []byte, want int64, ref rowRef) ([]store.Commit, error) {
	log, seq, commits, err := openRow(payload)
	if err != nil {
		return nil, err
	}
	first, last := commits[0].Revision, commits[len(commits)-1].Revision
	if log != want || seq != ref.seq || first != ref.first || last != ref.last || last-first != int64(len(commits)-1) {
		return nil, fmt.Errorf("%w: the row holds revisions %d-%d of log %d, row %d", store.ErrCorrupt, first, last, log, seq)
	}
	return commits, nil
}

// stateKey is the primary key of a row of state.
type stateKey struct {
	log int64
	key store.Key
}

// sealRecord is the payload of a state row: a checksum over all its columns,
// and the value.
func sealRecord(k stateKey, expires int64, value []byte) []byte {
	b := make([]byte, 4, 4+len(value))
	b = append(b, value...)
	binary.LittleEndian.PutUint32(b, recordSum(k, expires, value))
	return b
}

// openRecord returns the value within payload, or an error that wraps
// ErrCorrupt. The value aliases payload.
func openRecord(k stateKey, expires int64, payload []byte) ([]byte, error) {
	if len(payload) < 4 {
		return nil, fmt.Errorf("%w: only %d bytes", store.ErrCorrupt, len(payload))
	}
	got, want := recordSum(k, expires, payload[4:]), binary.LittleEndian.Uint32(payload)
	if got != want {
		return nil, fmt.Errorf("%w: checksum %08x instead of %08x", store.ErrCorrupt, got, want)
	}
	return payload[4:], nil
}

func recordSum(k stateKey, expires int64, value []byte) uint32 {
	return store.Checksum(integers(k.log, int64(k.key.Kind), k.key.ID, k.key.Sub, expires), value)
}

// integers lays columns out for a checksum.
func integers(columns ...int64) []byte {
	b := make([]byte, 0, 8*len(columns))
	for _, c := range columns {
		b = binary.LittleEndian.AppendUint64(b, uint64(c))
	}
	return b
}

// expiryColumn is the millisecond from which a record may be forgotten; 0 for
// one that stays.
func expiryColumn(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.UnixMilli()+1, 1)
}

// column reads an integer that damage may have made into anything.
func column(v any) (int64, bool) {
	n, ok := v.(int64)
	return n, ok
}

package pool

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// decoded is a record that was read: the one that its key's kind says, or why it
// means nothing.
type decoded struct {
	key     store.Key
	task    *task.Task
	event   *task.Event
	claim   claimRecord
	request *request
	meta    metaRecord
	err     error
}

// decode reads a record.
func decode(codec Codec, key store.Key, value []byte) (d decoded) {
	d.key = key
	if key.ID > maxMark || key.Sub > maxMark {
		d.err = fmt.Errorf("no record was ever given the number %d/%d", key.ID, key.Sub)
		return d
	}
	switch key.Kind {
	case kindMeta:
		if d.meta, d.err = decodeRecord[metaRecord](value); d.err == nil && max(d.meta.LastNumber, d.meta.LastEvent) > maxMark {
			d.err = fmt.Errorf("the numbers %d and %d were never given out", d.meta.LastNumber, d.meta.LastEvent)
		}
	case kindTask:
		if d.task, d.err = codec.DecodeTask(value); d.err == nil && (d.task.Number != key.ID || !d.task.Status.Valid()) {
			d.err = fmt.Errorf("task %d says number %d and status %s", key.ID, d.task.Number, d.task.Status)
		}
	case kindEvent:
		if d.event, d.err = codec.DecodeEvent(value); d.err == nil && d.event.ID != key.Sub {
			d.err = fmt.Errorf("event %d says id %d", key.Sub, d.event.ID)
		}
	case kindClaim:
		d.claim, d.err = decodeRecord[claimRecord](value)
	case kindRequest:
		var r requestRecord
		if r, d.err = decodeRecord[requestRecord](value); d.err == nil {
			d.request = r.request(key.ID)
		}
	}
	return d
}

// decoding reads records on all processors while more of them come, and hands
// them on in one goroutine, in no order.
type decoding struct {
	codec Codec
	raw   []rawRecord
	bytes int
	in    chan []rawRecord
	out   chan []decoded
	// workers end when in is closed, taker when out is.
	workers, taker sync.WaitGroup

	mu sync.Mutex
	// err is the first panic. Guarded by mu, while goroutines run.
	err error
}

type rawRecord struct {
	key   store.Key
	value []byte
}

// So many records, or bytes of them, are read as one.
const (
	decodeRecords = 256
	decodeBytes   = 1 << 20
)

// newDecoding starts to hand records to take. end must be called.
func newDecoding(codec Codec, take func(*decoded)) *decoding {
	n := runtime.GOMAXPROCS(0)
	d := &decoding{codec: codec, in: make(chan []rawRecord, n), out: make(chan []decoded, n)}
	for range n {
		d.workers.Go(d.work)
	}
	d.taker.Go(func() {
		for all := range d.out {
			d.guard(func() {
				for i := range all {
					take(&all[i])
				}
			})
		}
	})
	return d
}

// add takes a record, whose value must not be changed any more. Its error is that
// of an earlier record.
func (d *decoding) add(key store.Key, value []byte) error {
	d.raw, d.bytes = append(d.raw, rawRecord{key, value}), d.bytes+len(value)
	if len(d.raw) < decodeRecords && d.bytes < decodeBytes {
		return nil
	}
	d.in <- d.raw
	d.raw, d.bytes = make([]rawRecord, 0, decodeRecords), 0
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// end returns when all records were handed on. What take made of them is then the
// caller's.
func (d *decoding) end() error {
	d.in <- d.raw
	close(d.in)
	d.workers.Wait()
	close(d.out)
	d.taker.Wait()
	return d.err
}

func (d *decoding) work() {
	for raw := range d.in {
		d.guard(func() {
			all := make([]decoded, len(raw))
			for i, r := range raw {
				all[i] = decode(d.codec, r.key, r.value)
			}
			d.out <- all
		})
	}
}

// guard makes a panic the error of the whole: one pool whose records are odd beyond
// all checks must not end the others' process.
func (d *decoding) guard(do func()) {
	defer func() {
		if p := recover(); p != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.err == nil {
				d.err = fmt.Errorf("reading a record panicked: %v\n%s", p, debug.Stack())
			}
		}
	}()
	do()
}

package pool

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// readingCodec reads tasks whose bytes say how.
type readingCodec struct {
	Codec
	read atomic.Int64
}

var errOdd = errors.New("odd")

func (c *readingCodec) DecodeTask(b []byte) (*task.Task, error) {
	c.read.Add(1)
	switch string(b) {
	case "odd":
		return nil, errOdd
	case "panic":
		panic("beyond all checks")
	}
	return &task.Task{Number: 1, Status: task.Ready}, nil
}

func TestDecoding(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for name, c := range map[string]struct {
		last       string
		taken, odd int
		fails      string
	}{
		"all":          {"fine", 5*decodeRecords + 8, 0, ""},
		"one is odd":   {"odd", 5*decodeRecords + 8, 1, ""},
		"one panics":   {"panic", -1, 0, "panicked: beyond all checks"},
		"taking panic": {"", -1, 0, "panicked: taking"},
	} {
		t.Run(name, func(t *testing.T) {
			codec, taken, odd := &readingCodec{}, 0, 0
			d := newDecoding(codec, func(r *decoded) {
				if c.last == "" {
					panic("taking")
				}
				taken++
				if errors.Is(r.err, errOdd) && r.key.ID == 1 {
					odd++
				}
			})
			for range 5*decodeRecords + 7 {
				if err := d.add(store.Key{Kind: kindTask, ID: 1}, []byte("fine")); err != nil {
					break
				}
			}
			_ = d.add(store.Key{Kind: kindTask, ID: 1}, []byte(c.last))
			err := d.end()
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || taken != c.taken || odd != c.odd || codec.read.Load() != int64(c.taken) {
				t.Errorf("%d taken, %d odd, %d read, error %v", taken, odd, codec.read.Load(), err)
			}
		})
	}
}

// Once a record made it panic, no more are read than are on their way.
func TestDecoding_stopsAfterAPanic(t *testing.T) {
	d := newDecoding(&readingCodec{}, func(*decoded) {})
	var err error
	n := 0
	for ; err == nil && n < 1_000_000; n++ {
		err = d.add(store.Key{Kind: kindTask, ID: 1}, []byte("panic"))
	}
	if err == nil {
		t.Errorf("%d records were added", n)
	}
	if d.end() == nil {
		t.Error("no error at the end")
	}
}

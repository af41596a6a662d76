package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
)

// Whatever ends a watch, all before its position was handed out: who goes on
// from there misses nothing.
func TestWatch_endsAtItsPosition(t *testing.T) {
	f := openConfig(t, pool.Config{})
	w := f.watch(pool.WatchOptions{Start: pool.FromNow})
	begun := w.Cursor().Revision
	for i := range 700 { // more than is read ahead
		f.titled(fmt.Sprint(i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	handed := int64(0)
	for {
		b, err := w.Next(ctx, nil)
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		handed += int64(len(b.Changes))
		cancel()
	}
	if got := w.Cursor().Revision - begun; got != handed {
		t.Errorf("%d changes were handed out, and it is %d revisions further", handed, got)
	}
}

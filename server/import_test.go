package server

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// Imports hold a bounded number of bytes, each and together, and let go of them.
func TestIntake_isBounded(t *testing.T) {
	var total atomic.Int64
	one, two, three := &intake{total: &total}, &intake{total: &total}, &intake{total: &total}
	for _, in := range []*intake{one, two} {
		if err := in.hold(maxImportBytes); err != nil {
			t.Fatal(err)
		}
	}
	var quota *pool.QuotaError
	if err := one.hold(1); !errors.As(err, &quota) || quota.Reason != pool.ReasonBatchTooLarge || quota.RetryAfter != 0 || !strings.Contains(quota.Message, "1024 MiB") {
		t.Errorf("a byte too many gives %v", err)
	}
	if err := three.hold(1); !errors.As(err, &quota) || quota.Reason != pool.ReasonQueueFull || quota.RetryAfter == 0 || !strings.Contains(quota.Message, "2048 MiB") {
		t.Errorf("a third import gives %v", err)
	}
	three.done()
	one.done()
	four := &intake{total: &total}
	if err := four.hold(maxImportBytes); err != nil {
		t.Errorf("after one ended: %v", err)
	}
	four.done()
	two.done()
	if n := total.Load(); n != 0 {
		t.Errorf("%d bytes are held for ever", n)
	}
}

// Records that say little count for what they take in memory, not for their few
// bytes.
func TestIntake_countsRecords(t *testing.T) {
	var total atomic.Int64
	in := &intake{total: &total, first: &taskpoolv1.ImportPoolRequest{}}
	defer in.done()
	if err := in.take(&taskpoolv1.ImportPoolRequest{}); err != nil {
		t.Fatal(err)
	}
	before := total.Load()
	records := make([]*taskpoolv1.PoolRecord, 1000)
	for i := range records {
		records[i] = &taskpoolv1.PoolRecord{}
	}
	if err := in.hold(heldBy(&taskpoolv1.ImportPoolRequest{Records: records})); err != nil {
		t.Fatal(err)
	}
	if got := total.Load() - before; got < 1000*recordCost {
		t.Errorf("1,000 empty records count for %d bytes", got)
	}
}

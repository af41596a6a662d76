//go:build soak

package server_test

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// TestSoak_snapshotOfAMillion reads the snapshot of 1,000,000 tasks, while others
// are written, and what it takes of memory meanwhile does not grow with it.
func TestSoak_snapshotOfAMillion(t *testing.T) {
	const tasks, batch = 1_000_000, 10_000
	f := startConfig(t, pool.Config{Store: keep(t)})
	for range tasks / batch {
		f.fillBatch(batch, 500)
	}
	before := heap()
	stream, err := f.tasks.WatchTasks(f.ctx(), &taskpoolv1.WatchTasksRequest{}, grpc.MaxCallRecvMsgSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]bool, tasks+1) // by the creation number
	read, after, most := 0, 0, before
	for end := false; !end || after < batch; {
		m, err := stream.Recv()
		if err != nil {
			t.Fatalf("after %d tasks: %v", read, err)
		}
		for _, it := range m.GetSnapshot().GetTasks() {
			n, err := strconv.Atoi(strings.TrimPrefix(it.GetKey(), "T-"))
			if err != nil || n > tasks || seen[n] {
				t.Fatalf("%s is not of the snapshot, or comes twice", it.GetKey())
			}
			seen[n] = true
			if read++; read == tasks/4 {
				f.fillBatch(batch, 10)
			}
			if read%(tasks/10) == 0 {
				most = max(most, heap())
			}
		}
		end = end || m.GetSnapshotEnd() != nil
		after += len(m.GetChanges().GetChanges())
	}
	if read != tasks || after != batch {
		t.Errorf("%d tasks and %d changes were read, want %d and %d", read, after, tasks, batch)
	}
	// 64 MiB: the tasks made meanwhile, the ring, and a copy of the paths to them.
	t.Logf("a heap of %d MiB grew by %d MiB at most", before>>20, (most-before)>>20)
	if most-before > 64<<20 {
		t.Error("which is too much: something copies the pool")
	}
}

package server_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// exporting begins an export.
func (f *fixture) exporting() grpc.ServerStreamingClient[taskpoolv1.ExportPoolResponse] {
	f.t.Helper()
	stream, err := f.pools.ExportPool(f.ctx(), &taskpoolv1.ExportPoolRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	return stream
}

// An export that nobody reads ends, and lets go of the pool as it was; one that is
// read now and then goes on.
func TestExport_neverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.fillBatch(3000, 1000)
		// The server sees of a caller who reads only that a window opens, and with a
		// fake clock those of usual connections grow at random.
		reader, slow := f.anotherConn().exporting(), f.anotherConn()
		slow.list(&taskpoolv1.ReadTaskRequest{})
		synctest.Wait()
		goroutines := runtime.NumGoroutine()
		stream := slow.exporting()
		records := 0
		for range 7 {
			time.Sleep(time.Minute)
			m, err := reader.Recv()
			if err != nil {
				t.Fatal(err)
			}
			records += len(m.GetRecords())
		}
		for {
			m, err := reader.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			records += len(m.GetRecords())
		}
		if records != 6001 {
			t.Errorf("the one that reads has %d records", records)
		}
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		refused(t, err, codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("there are %d goroutines, %d before", n, goroutines)
		}
	})
}

// A server that stops is not kept from it by an export that is not read.
func TestExport_drain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.fillBatch(3000, 1000)
		stream := f.exporting()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := f.server.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
	})
}

// An import from which nothing comes ends, changes nothing, and keeps nothing.
func TestImport_idle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.create("there")
		var records []*taskpoolv1.PoolRecord
		export := f.exporting()
		for {
			m, err := export.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, m.GetRecords()...)
		}
		synctest.Wait()
		goroutines := runtime.NumGoroutine()
		stream, err := f.pools.ImportPool(f.ctx())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&taskpoolv1.ImportPoolRequest{Records: records}); err != nil {
			t.Fatal(err)
		}
		refused(t, stream.RecvMsg(&taskpoolv1.ImportPoolResponse{}), codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("there are %d goroutines, %d before", n, goroutines)
		}
	})
}

package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// Bounds of what is held of imports until their streams end.
const (
	maxImportBytes  = 1 << 30
	maxImportsBytes = 2 << 30
)

const merging = taskpoolv1.ImportMode_IMPORT_MODE_MERGE

// recordCost is about what a record costs in memory beyond its bytes.
const recordCost = 1536

// ImportPool implements [taskpoolv1.PoolServiceServer].
func (s *poolService) ImportPool(stream grpc.ClientStreamingServer[taskpoolv1.ImportPoolRequest, taskpoolv1.ImportPoolResponse]) error {
	return s.server.attend(stream.Context(), idleImport, func(tell func(sign) bool) error {
		recv := func() (*taskpoolv1.ImportPoolRequest, error) {
			m, err := stream.Recv()
			tell(moved)
			return m, err
		}
		result, err := s.takeIn(stream.Context(), recv, func() bool { return tell(busy) })
		if err != nil {
			return err
		}
		return stream.SendAndClose(importResponse(result))
	})
}

func idleImport(limit time.Duration) error {
	return &pool.QuotaError{Reason: reasonTooSlow, Message: fmt.Sprintf(
		"nothing came for %s, so the import has ended; nothing was changed; send it again without pause, from a file for example", limit)}
}

// takeIn receives an import and runs it. whole is called when all has come, and says
// whether to go on.
func (s *poolService) takeIn(ctx context.Context, recv func() (*taskpoolv1.ImportPoolRequest, error), whole func() bool) (pool.ImportResult, error) {
	var none pool.ImportResult
	first, err := recv()
	if errors.Is(err, io.EOF) {
		return none, violation(pool.ReasonInvalidField, "", "the stream has no message: the first one says what to import and how")
	}
	if err != nil {
		return none, err
	}
	p, release, err := s.server.registry.Acquire(ctx, first.GetPool())
	if err != nil {
		return none, err
	}
	defer release()
	in, err := newIntake(ctx, p, first)
	if err != nil {
		return none, err
	}
	in.total = &s.server.importing
	defer in.done()
	for m := first; ; {
		if err := in.take(m); err != nil {
			return none, err
		}
		m, err = recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return none, in.inStream(err)
		}
	}
	if !whole() {
		return none, context.Canceled
	}
	return in.run(connection(ctx))
}

// intake is an import whose messages arrive.
type intake struct {
	first   *taskpoolv1.ImportPoolRequest
	request pool.Request
	records *pool.Import
	// digest hashes the records, where a repeat has to be known again.
	digest hash.Hash
	// count is how many records came, held about how many bytes they take; total
	// is what all imports of the server hold.
	count, held int64
	total       *atomic.Int64
}

// newIntake reads what the first message says of all.
func newIntake(ctx context.Context, p *pool.Pool, first *taskpoolv1.ImportPoolRequest) (*intake, error) {
	var v task.Violations
	mode := pool.ImportMerge
	switch orDefault(first.GetMode(), merging) {
	case merging:
	case taskpoolv1.ImportMode_IMPORT_MODE_RESTORE:
		mode = pool.ImportRestore
	default:
		v.Add("mode", "has the unknown value %d: use merge or restore, or leave it out", first.GetMode())
	}
	in := &intake{
		first:   first,
		request: requestOf(ctx, &taskpoolv1.ImportPoolRequest{Pool: p.Name(), RequestId: first.GetRequestId(), Mode: first.GetMode()}, &v),
	}
	if err := invalid(v); err != nil {
		return nil, err
	}
	if in.request.ID != "" {
		in.digest = sha256.New()
		_, _ = io.WriteString(in.digest, in.request.Digest) // never fails
	}
	var err error
	in.records, err = p.Import(in.request.Actor, mode)
	return in, err
}

// take adds the records of a message.
func (in *intake) take(m *taskpoolv1.ImportPoolRequest) error {
	var v task.Violations
	if m.GetPool() != "" && poolName(m.GetPool()) != poolName(in.first.GetPool()) {
		v.Add("pool", "is another than in the first message: leave it out after that")
	}
	if m.GetRequestId() != "" && m.GetRequestId() != in.first.GetRequestId() {
		v.Add("request_id", "is another than in the first message: leave it out after that")
	}
	if m.GetMode() != 0 && orDefault(m.GetMode(), merging) != orDefault(in.first.GetMode(), merging) {
		v.Add("mode", "is another than in the first message: leave it out after that")
	}
	if err := invalid(v); err != nil {
		return err
	}
	if err := in.hold(heldBy(m)); err != nil {
		return err
	}
	for _, record := range m.GetRecords() {
		if err := in.add(record); err != nil {
			return err
		}
	}
	return nil
}

func (in *intake) add(record *taskpoolv1.PoolRecord) error {
	if in.digest != nil {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(record)
		if err != nil {
			return err // it was unmarshalled just now
		}
		fmt.Fprintf(in.digest, "%d:", len(b))
		_, _ = in.digest.Write(b)
	}
	in.count++
	read, wrong, err := taskpb.ReadRecord(record)
	later, _ := errors.AsType[*taskpb.LaterError](err)
	if later == nil {
		return in.records.Add(read, wrong, nil)
	}
	return in.records.Add(read, wrong, &pool.LaterError{Feature: later.Feature, Field: later.Field})
}

// hold accounts for what is held until the end.
func (in *intake) hold(bytes int64) error {
	if in.held += bytes; in.held > maxImportBytes {
		in.held -= bytes
		return &pool.QuotaError{Reason: pool.ReasonBatchTooLarge, Message: fmt.Sprintf(
			"the records take more than %d MiB, the most that one import takes; nothing was changed; merge them in several imports, dependencies first", maxImportBytes>>20)}
	}
	if in.total.Add(bytes) > maxImportsBytes {
		return &pool.QuotaError{Reason: pool.ReasonQueueFull, RetryAfter: 5 * time.Second, Message: fmt.Sprintf(
			"the imports under way take more than %d MiB together; nothing was changed; wait until the others are done and repeat", maxImportsBytes>>20)}
	}
	return nil
}

// heldBy is about how many bytes of memory a message's records take.
func heldBy(m *taskpoolv1.ImportPoolRequest) int64 {
	return int64(proto.Size(m)) + recordCost*int64(len(m.GetRecords()))
}

// done lets go of what was held.
func (in *intake) done() { in.total.Add(-in.held) }

// inStream names records by their places in the stream where what is wrong with a
// message was found before it was read.
func (in *intake) inStream(err error) error {
	found, ok := errors.AsType[*pool.InvalidError](err)
	if !ok {
		return err
	}
	v := make(task.Violations, len(found.Violations))
	for i, one := range found.Violations {
		var index int64
		if n, _ := fmt.Sscanf(one.Field, "records[%d]", &index); n == 1 {
			one.Field = fmt.Sprintf("records[%d]%s", in.count+index, one.Field[len(fmt.Sprintf("records[%d]", index)):])
		}
		v[i] = one
	}
	return &pool.InvalidError{Reason: found.Reason, Violations: v}
}

// run takes in all that came.
func (in *intake) run(ctx context.Context) (pool.ImportResult, error) {
	if in.digest != nil {
		in.request.Digest = base64.RawURLEncoding.EncodeToString(in.digest.Sum(nil))
	}
	return in.records.Run(ctx, in.request)
}

func importResponse(r pool.ImportResult) *taskpoolv1.ImportPoolResponse {
	m := &taskpoolv1.ImportPoolResponse{
		Created: int32(r.Created), Unchanged: int32(r.Unchanged), RefusedCount: int32(r.RefusedCount),
		Cursor: r.Cursor.String(), Replayed: r.Replayed,
	}
	for _, one := range r.Refused {
		m.Refused = append(m.Refused, &taskpoolv1.ImportRefusal{Index: one.Index, Id: one.ID, Reason: string(one.Reason), Message: one.Message})
	}
	return m
}

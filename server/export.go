package server

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// ExportPool implements [taskpoolv1.PoolServiceServer]. It holds one message at a
// time, and the pool as it was when it began.
func (s *poolService) ExportPool(req *taskpoolv1.ExportPoolRequest, stream grpc.ServerStreamingServer[taskpoolv1.ExportPoolResponse]) error {
	ctx := stream.Context()
	p, release, err := s.server.registry.Acquire(ctx, req.GetPool())
	if err != nil {
		return err
	}
	return s.server.attend(ctx, unreadExport, func(tell func(sign) bool) error {
		defer release()
		return export(ctx, p.Export(), func(m *taskpoolv1.ExportPoolResponse) error {
			err := stream.Send(m)
			tell(moved)
			return err
		})
	})
}

func unreadExport(limit time.Duration) error {
	return &pool.QuotaError{Reason: reasonTooSlow, Message: fmt.Sprintf(
		"no message was taken for %s, so the export has ended; export again and read without pause, into a file for example", limit)}
}

// export sends what is exported.
func export(ctx context.Context, e *pool.Export, send func(*taskpoolv1.ExportPoolResponse) error) error {
	message := &taskpoolv1.ExportPoolResponse{Cursor: e.Cursor().String()}
	empty := proto.Size(message)
	size := empty
	for r := range e.Records() {
		record := taskpb.Record(r)
		more := protowire.SizeTag(1) + protowire.SizeBytes(proto.Size(record))
		if n := len(message.Records); n == maxMessageItems || n > 0 && size+more > maxMessageBytes {
			if err := send(message); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			message = &taskpoolv1.ExportPoolResponse{Cursor: message.GetCursor()}
			size = empty
		}
		message.Records = append(message.Records, record)
		size += more
	}
	return send(message)
}

package server

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// Bounds of one message of an export.
const (
	maxExportRecords = 256
	maxExportBytes   = 1 << 20
)

// ExportPool implements [taskpoolv1.PoolServiceServer]. It holds one message at a
// time; what it tells is the pool as it was when it began.
func (s *poolService) ExportPool(req *taskpoolv1.ExportPoolRequest, stream grpc.ServerStreamingServer[taskpoolv1.ExportPoolResponse]) error {
	p, release, err := s.server.registry.Acquire(stream.Context(), req.GetPool())
	if err != nil {
		return err
	}
	defer release()
	export := p.Export()
	message := &taskpoolv1.ExportPoolResponse{Cursor: export.Cursor().String()}
	empty := proto.Size(message)
	size := empty
	for r := range export.Records() {
		record := taskpb.Record(r)
		more := protowire.SizeTag(1) + protowire.SizeBytes(proto.Size(record))
		if n := len(message.Records); n == maxExportRecords || n > 0 && size+more > maxExportBytes {
			if err := stream.Send(message); err != nil {
				return err
			}
			message = &taskpoolv1.ExportPoolResponse{Cursor: message.GetCursor()}
			size = empty
		}
		message.Records = append(message.Records, record)
		size += more
	}
	return stream.Send(message)
}

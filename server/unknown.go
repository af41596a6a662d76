package server

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// A field that this version does not know comes from a newer client, which
// expects it to be honoured. It is refused rather than dropped.

func refuseUnknown(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if m, ok := req.(proto.Message); ok && ofAPI(info.FullMethod) {
		if err := checkKnown(m); err != nil {
			return nil, err
		}
	}
	return next(ctx, req)
}

// checkKnown refuses a message with unknown fields, in itself or below.
func checkKnown(m proto.Message) error {
	var v task.Violations
	findUnknown(&v, "", m.ProtoReflect())
	if len(v) > 0 {
		return &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: v}
	}
	return nil
}

// submessages are the fields of each type of message that hold messages; maps
// of requests hold text alone. Few types, never forgotten.
var submessages sync.Map // protoreflect.MessageDescriptor to []protoreflect.FieldDescriptor

func submessagesOf(desc protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := submessages.Load(desc); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	var fields []protoreflect.FieldDescriptor
	for i := range desc.Fields().Len() {
		if f := desc.Fields().Get(i); f.Kind() == protoreflect.MessageKind && !f.IsMap() {
			fields = append(fields, f)
		}
	}
	submessages.Store(desc, fields)
	return fields
}

func findUnknown(v *task.Violations, path string, m protoreflect.Message) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		v.Add(path, "has the field number %d, which %s does not have in this version: leave it out, or ask a newer server",
			number, m.Descriptor().Name())
	}
	for _, f := range submessagesOf(m.Descriptor()) {
		if !m.Has(f) {
			continue
		}
		below := string(f.Name())
		if path != "" {
			below = path + "." + below
		}
		if !f.IsList() {
			findUnknown(v, below, m.Get(f).Message())
			continue
		}
		list := m.Get(f).List()
		for i := range list.Len() {
			if item := list.Get(i).Message(); len(item.GetUnknown()) > 0 || len(submessagesOf(item.Descriptor())) > 0 {
				findUnknown(v, fmt.Sprintf("%s[%d]", below, i), item)
			}
		}
	}
}

package client

import (
	"context"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// actorKey is the metadata key that names the actor to a server without
// authentication.
const actorKey = "taskpool-actor"

// calls adds the client's defaults to every call of a connection.
type calls struct {
	connection  grpc.ClientConnInterface
	pool, actor string
}

// Invoke makes a unary call.
func (c *calls) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	return c.connection.Invoke(c.context(ctx), method, c.request(args, true), reply, opts...)
}

// NewStream opens a stream; its requests get the pool, but no request_id: a
// stream is not repeated.
func (c *calls) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := c.connection.NewStream(c.context(ctx), desc, method, opts...)
	if err != nil {
		return nil, err
	}
	return &requests{ClientStream: stream, calls: c}, nil
}

// requests is a stream whose requests get the client's defaults.
type requests struct {
	grpc.ClientStream
	calls *calls
}

func (s *requests) SendMsg(m any) error { return s.ClientStream.SendMsg(s.calls.request(m, false)) }

// context names the actor, unless the caller's context does already.
func (c *calls) context(ctx context.Context) context.Context {
	if c.actor == "" {
		return ctx
	}
	if sent, ok := metadata.FromOutgoingContext(ctx); ok && len(sent.Get(actorKey)) > 0 {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, actorKey, c.actor)
}

// request is m with pool and request_id filled in where they are empty. It is m
// itself when nothing is missing, else a copy that shares m's values.
func (c *calls) request(m any, withID bool) any {
	request, ok := m.(proto.Message)
	if !ok {
		return m
	}
	from := request.ProtoReflect()
	fill := map[protoreflect.Name]string{"pool": c.pool}
	if withID {
		fill["request_id"] = uuid.NewString()
	}
	var to protoreflect.Message
	for name, value := range fill {
		field := from.Descriptor().Fields().ByName(name)
		if value == "" || field == nil || field.Kind() != protoreflect.StringKind || from.Get(field).String() != "" {
			continue
		}
		if to == nil {
			to = shallow(from)
		}
		to.Set(field, protoreflect.ValueOfString(value))
	}
	if to == nil {
		return m
	}
	return to.Interface()
}

// shallow is a new message with the same field values; lists, maps and messages
// are shared and must not be changed through it.
func shallow(from protoreflect.Message) protoreflect.Message {
	to := from.New()
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to.Set(field, value)
		return true
	})
	to.SetUnknown(from.GetUnknown())
	return to
}

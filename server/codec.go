package server

import (
	"context"
	"fmt"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/taskpool-dev/taskpool/pool"
)

// gRPC calls a request that can't be decoded INTERNAL, with the decoder's words,
// and sends that before any interceptor runs. Text that is not UTF-8 is a
// caller's mistake like any other, so the codec lets the message pass and leaves
// what is wrong with it for an error of the call.

// incoming is a request on its way through the codec.
type incoming struct {
	message any
	// wrong is why it could not be decoded, path the field that is not UTF-8, if
	// that is why.
	wrong error
	path  string
}

// requestCodec is gRPC's own, but never fails on an incoming request, and sends
// frames too.
type requestCodec struct{ encoding.CodecV2 }

func codec() encoding.CodecV2 { return requestCodec{encoding.GetCodecV2(protocodec.Name)} }

// Marshal implements [encoding.CodecV2]. A frame is encoded already.
func (c requestCodec) Marshal(v any) (mem.BufferSlice, error) {
	if f, ok := v.(*frame); ok {
		return f.pieces, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements [encoding.CodecV2].
func (c requestCodec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*incoming)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if in.wrong = c.CodecV2.Unmarshal(data, in.message); in.wrong == nil {
		return nil
	}
	if m, ok := in.message.(proto.Message); ok {
		in.path = notUTF8(data.Materialize(), m.ProtoReflect().Descriptor())
	}
	return nil
}

// decoding is a method's handler that hands what the codec found to the
// interceptors as an error of the call.
func decoding(handler grpc.MethodHandler) grpc.MethodHandler {
	return func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		var in incoming
		read := func(v any) error {
			in.message = v
			return dec(&in)
		}
		return handler(srv, ctx, read, func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if in.wrong != nil {
				next = func(context.Context, any) (any, error) { return nil, in.refusal() }
			}
			return interceptor(ctx, req, info, next)
		})
	}
}

// decodingStream is the same for the messages of a stream.
type decodingStream struct{ grpc.ServerStream }

// RecvMsg implements [grpc.ServerStream].
func (d decodingStream) RecvMsg(m any) error {
	in := &incoming{message: m}
	if err := d.ServerStream.RecvMsg(in); err != nil {
		return err
	}
	if in.wrong != nil {
		return in.refusal()
	}
	if m, ok := m.(proto.Message); ok {
		return checkKnown(m)
	}
	return nil
}

func decodeStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if ofAPI(info.FullMethod) {
		stream = decodingStream{stream}
	}
	return next(srv, stream)
}

// refusal says what is wrong with a request that was not decoded.
func (in *incoming) refusal() error {
	if in.path != "" {
		return violation(pool.ReasonInvalidField, in.path, "is not valid UTF-8: send it as UTF-8")
	}
	return violation(pool.ReasonInvalidField, "", "the request is no message of this method: send what the .proto files describe")
}

// notUTF8 is the path of the first string of an encoded message that is not
// UTF-8, "" when there is none, or the bytes are no message.
func notUTF8(b []byte, desc protoreflect.MessageDescriptor) string {
	seen := map[protowire.Number]int{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return ""
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return ""
		}
		value := b[:n]
		b = b[n:]
		f := desc.Fields().ByNumber(number)
		if f == nil || kind != protowire.BytesType {
			continue
		}
		value, _ = protowire.ConsumeBytes(value)
		path := string(f.Name())
		if f.IsList() {
			path = fmt.Sprintf("%s[%d]", path, seen[number])
			seen[number]++
		}
		switch {
		case f.Kind() == protoreflect.StringKind && !utf8.Valid(value):
			return path
		case f.IsMap():
			if notUTF8(value, f.Message()) != "" {
				return path
			}
		case f.Kind() == protoreflect.MessageKind:
			if below := notUTF8(value, f.Message()); below != "" {
				return path + "." + below
			}
		}
	}
	return ""
}

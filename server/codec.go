package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// gRPC calls a request that can't be decoded INTERNAL, with the decoder's words.
// Text that is not UTF-8 is a caller's mistake like any other, so the codec
// finds the field and decoding turns it into INVALID_ARGUMENT.

// requestCodec is gRPC's own, but says which field of a message is not UTF-8.
type requestCodec struct{ encoding.CodecV2 }

func codec() encoding.CodecV2 { return requestCodec{encoding.GetCodecV2(protocodec.Name)} }

// notText marks the error text of a field that is not UTF-8. gRPC keeps only
// the text of a codec's error.
const notText = "not UTF-8: "

// Unmarshal implements [encoding.CodecV2].
func (c requestCodec) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	if m, ok := v.(proto.Message); ok {
		if path := notUTF8(data.Materialize(), m.ProtoReflect().Descriptor()); path != "" {
			return errors.New(notText + path)
		}
	}
	return err
}

// decoding is a method's handler that hands what the codec found to the
// interceptors as an error of the call.
func decoding(handler grpc.MethodHandler) grpc.MethodHandler {
	return func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		var unread error
		record := func(v any) error {
			unread = dec(v)
			return nil
		}
		return handler(srv, ctx, record, func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if unread != nil {
				next = func(context.Context, any) (any, error) { return nil, unreadable(unread) }
			}
			return interceptor(ctx, req, info, next)
		})
	}
}

// unreadable says what is wrong with a request that was not decoded.
func unreadable(err error) error {
	var v task.Violations
	if _, path, ok := strings.Cut(err.Error(), notText); ok {
		v.Add(path, "is not valid UTF-8: send it as UTF-8")
	} else {
		v.Add("", "the request is no message of this method: send what the .proto files describe")
	}
	return &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: v}
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

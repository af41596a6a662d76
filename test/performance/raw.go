package main

import (
	"errors"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// counted is a WatchTasksResponse of which only the changes are counted: a client
// that decoded each would measure itself.
type counted struct {
	changes int
	// bytes is the message, where keep is set.
	keep  bool
	bytes []byte
}

// rawCodec is gRPC's own, but for counted messages.
type rawCodec struct{ encoding.CodecV2 }

func newRawCodec() rawCodec { return rawCodec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal implements [encoding.CodecV2].
func (c rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*counted)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	buffer := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	b := buffer.ReadOnlyData()
	m.bytes = nil
	if m.keep {
		m.bytes = append([]byte(nil), b...)
	}
	changes, err := field(b, 5) // WatchTasksResponse.changes
	if err != nil {
		return err
	}
	m.changes = 0
	for len(changes) > 0 {
		number, kind, n := protowire.ConsumeTag(changes)
		if n < 0 {
			return errMessage
		}
		changes = changes[n:]
		if n = protowire.ConsumeFieldValue(number, kind, changes); n < 0 {
			return errMessage
		}
		changes = changes[n:]
		if number == 1 { // WatchChanges.changes
			m.changes++
		}
	}
	return nil
}

var errMessage = errors.New("the message can't be read")

// field is the bytes of the last field of that number.
func field(b []byte, wanted protowire.Number) (value []byte, err error) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errMessage
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			return nil, errMessage
		}
		if number == wanted && kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(b)
		}
		b = b[n:]
	}
	return value, nil
}

package server

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// frame is a message that is encoded already, in pieces. The pieces may be those
// of other streams too, so nobody changes them or gives them back: they are
// buffers that are never freed, and gRPC copies none of them before it writes
// them to the connection. A frame itself belongs to one stream.
type frame struct {
	pieces mem.BufferSlice
	size   int
}

// The fields of the messages that a frame of changes is made of.
const (
	responseCursorField   protowire.Number = 1 // WatchTasksResponse.cursor
	responseChangesField  protowire.Number = 5 // WatchTasksResponse.changes
	responseRevisionField protowire.Number = 7 // WatchTasksResponse.revision
	changesChangesField   protowire.Number = 1 // WatchChanges.changes
	changesMoreField      protowire.Number = 3 // WatchChanges.more
)

// join appends a piece, or makes the last one longer where the piece lies right
// behind it in memory.
func join(pieces [][]byte, piece []byte) [][]byte {
	if n := len(pieces); n > 0 && len(piece) > 0 {
		last := pieces[n-1]
		if cap(last)-len(last) >= len(piece) && &last[:len(last)+1][len(last)] == &piece[0] {
			pieces[n-1] = last[:len(last)+len(piece)]
			return pieces
		}
	}
	return append(pieces, piece)
}

// changesFrame is a WatchTasksResponse with changes; revision is that of the
// cursor. The elements are those of WatchChanges.changes, one or more a piece, each
// with its tag and length.
func changesFrame(cursor string, revision int64, more bool, elements [][]byte) *frame {
	var tail []byte
	if more {
		tail = protowire.AppendVarint(protowire.AppendTag(nil, changesMoreField, protowire.VarintType), 1)
	}
	body := len(tail)
	for _, e := range elements {
		body += len(e)
	}
	head := make([]byte, 0, len(cursor)+32)
	if cursor != "" {
		head = protowire.AppendTag(head, responseCursorField, protowire.BytesType)
		head = protowire.AppendString(head, cursor)
	}
	if revision != 0 {
		head = protowire.AppendTag(head, responseRevisionField, protowire.VarintType)
		head = protowire.AppendVarint(head, uint64(revision))
	}
	head = protowire.AppendTag(head, responseChangesField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(body))

	// One array for all, and pointers into it: a message has hundreds of pieces.
	pieces := make([]mem.SliceBuffer, 0, len(elements)+2)
	pieces = append(pieces, head)
	for _, e := range elements {
		pieces = append(pieces, e)
	}
	if more {
		pieces = append(pieces, tail)
	}
	f := &frame{pieces: make(mem.BufferSlice, len(pieces)), size: len(head) + body}
	for i := range pieces {
		f.pieces[i] = &pieces[i]
	}
	return f
}

package client

import (
	"fmt"
	"strconv"
	"strings"
)

// between joins the parts of a position. No cursor has it: they are base64url.
const between = "~"

// position is how far a follower has come. The zero position: nowhere.
type position struct {
	// cursor is the server's.
	cursor string
	// through is the last revision after cursor that was delivered too; 0: none.
	// A server that resumes after cursor sends it again.
	through int64
	// print is the fingerprint of that revision. The server vouches for its cursor
	// only: what it sends after that may be another history, once a backup was
	// restored.
	print uint64
}

// String is the position as a Change.Cursor.
func (p position) String() string {
	if p.through == 0 {
		return p.cursor
	}
	return fmt.Sprintf("%s%s%d%s%016x", p.cursor, between, p.through, between, p.print)
}

// parsePosition reads what String wrote. Anything else is a server's cursor, and
// the server says what it makes of it.
func parsePosition(text string) position {
	parts := strings.Split(text, between)
	if len(parts) != 3 || parts[0] == "" {
		return position{cursor: text}
	}
	through, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || through <= 0 {
		return position{cursor: text}
	}
	mark, err := strconv.ParseUint(parts[2], 16, 64)
	p := position{cursor: parts[0], through: through, print: mark}
	if err != nil || p.String() != text {
		return position{cursor: text}
	}
	return p
}

package client

import (
	"strconv"
	"strings"
)

// between joins a server's cursor and a revision. No cursor has it: they are
// base64url.
const between = "~"

// position is how far a follower has come. The zero position: nowhere.
type position struct {
	// cursor is the server's.
	cursor string
	// through is the last revision after cursor that was delivered too; 0: none.
	// A server that resumes after cursor sends it again.
	through int64
}

// String is the position as a Change.Cursor.
func (p position) String() string {
	if p.through == 0 {
		return p.cursor
	}
	return p.cursor + between + strconv.FormatInt(p.through, 10)
}

// parsePosition reads what String wrote. Anything else is a server's cursor, and
// the server says what it makes of it.
func parsePosition(text string) position {
	if at := strings.LastIndex(text, between); at > 0 {
		if through, err := strconv.ParseInt(text[at+len(between):], 10, 64); err == nil && through > 0 {
			return position{cursor: text[:at], through: through}
		}
	}
	return position{cursor: text}
}

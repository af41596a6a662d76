package client

// KeptCursor is the Change.Cursor of a revision that came after a server's cursor.
func KeptCursor(cursor string, r Change) string {
	return position{cursor: cursor, through: r.Revision, print: fingerprint(r)}.String()
}

package pooltest

// mostChanges is how many changes one message has at most.
const mostChanges = 256

// Formed: a stream is `opened` once and first; then, where it starts with a
// snapshot and only there, parts of a snapshot and its end; then changes and
// progress. Each has a cursor, but not within a snapshot and not where a
// revision goes on. Changes are at least one and at most 256, and one has a
// state if it is UPSERTED, which is of its task and revision.
func Formed(tr *Traffic) error {
	for i, s := range tr.Streams {
		p := &path{tr: tr, stream: i}
		whole := s.Start != FromSnapshot
		for k, m := range s.Messages {
			p.message = k
			if why := misplaced(m, k == 0, whole); why != "" {
				return p.breach(ErrNotFormed, 0, "", "%s", why)
			}
			whole = whole || m.Kind == MessageSnapshotEnd
			for _, c := range m.Changes {
				if why := misshapen(c); why != "" {
					return p.breach(ErrNotFormed, c.Revision, c.Task, "%s", why)
				}
			}
		}
	}
	return nil
}

// misplaced says what is wrong with a message where it stands.
func misplaced(m Message, first, whole bool) string {
	cursor := m.Cursor != (Cursor{})
	switch {
	case first != (m.Kind == MessageOpened):
		return "a stream begins with `opened`, and has it once"
	case m.Kind != MessageSnapshot && len(m.Tasks) > 0, m.Kind != MessageChanges && (len(m.Changes) > 0 || m.More):
		return "it has what is of another kind of message"
	}
	switch m.Kind {
	case MessageOpened:
		if cursor != whole {
			return "`opened` has a cursor unless a snapshot has to come first"
		}
	case MessageSnapshot, MessageSnapshotEnd:
		if whole {
			return "no snapshot was asked for, or it had ended"
		}
		if cursor != (m.Kind == MessageSnapshotEnd) {
			return "a snapshot has a cursor at its end"
		}
	case MessageChanges, MessageProgress:
		if !whole {
			return "the snapshot had not ended"
		}
		if cursor == m.More {
			return "it has a cursor exactly if its last revision does not go on"
		}
		if n := len(m.Changes); m.Kind == MessageChanges && (n == 0 || n > mostChanges) {
			return "a message has at least one change and at most 256"
		}
	default:
		return "nobody knows this kind of message"
	}
	return ""
}

func misshapen(c Change) string {
	switch {
	case c.Kind != Upserted && c.Kind != LeftView && c.Kind != Deleted:
		return "nobody knows this kind of change"
	case (c.State != nil) != (c.Kind == Upserted):
		return "it has a state exactly if it is UPSERTED"
	case c.State != nil && (c.State.ID != c.Task || c.State.Revision != c.Revision):
		return "its state is of another task or revision"
	}
	return ""
}

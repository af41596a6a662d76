package pooltest

import "fmt"

// path is where a walk is: on the way from the start of a watch, over the
// cursors it was resumed after, to a message.
type path struct {
	tr              *Traffic
	stream, message int
	// begun: from is known, the revision that the first change lies behind. A
	// watch has begun with its start cursor, with `opened` where it starts now,
	// or with the end of its snapshot.
	begun bool
	from  int64
}

func (p *path) breach(guarantee error, revision int64, task, why string, args ...any) error {
	return &Breach{
		Guarantee: guarantee, Watch: p.tr.Name, Stream: p.stream, Message: p.message,
		Revision: revision, Task: task, Why: fmt.Sprintf(why, args...),
	}
}

// witness is what a guarantee remembers on a path.
type witness[W any] interface {
	// begin is called when a watch has begun, before the message that it begins
	// with is seen, and not again when it is resumed.
	begin(*path) error
	// see is called with each message.
	see(*path, Message) error
	// end is called where a stream was cut.
	end(*path) error
	// fork returns a copy that remembers the same.
	fork() W
}

// walk leads witnesses along every path of a traffic. A stream that resumes
// after a cursor of this traffic goes on from what was known right after that
// cursor, so that neither what came later nor what was taken back is known to it.
func walk[W witness[W]](tr *Traffic, fresh func() W) error {
	type known struct {
		path
		w W
	}
	resumed := map[string]bool{}
	for _, s := range tr.Streams {
		if s.Start == FromCursor {
			resumed[s.After.Text] = true
		}
	}
	at := map[string]known{}
	for i := range tr.Streams {
		s := &tr.Streams[i]
		here := known{path{tr: tr}, fresh()}
		if old, ok := at[s.After.Text]; ok && s.Start == FromCursor {
			here = known{old.path, old.w.fork()}
		}
		p := &here.path
		p.stream, p.message = i, 0
		if s.Start == FromCursor && !p.begun {
			if err := p.beginAt(s.After, here.w.begin); err != nil {
				return err
			}
		}
		for k, m := range s.Messages {
			p.message = k
			if !p.begun && s.beginsWith(m) {
				if err := p.beginAt(m.Cursor, here.w.begin); err != nil {
					return err
				}
			}
			if err := here.w.see(p, m); err != nil {
				return err
			}
			if m.Cursor != (Cursor{}) && resumed[m.Cursor.Text] {
				at[m.Cursor.Text] = known{*p, here.w.fork()}
			}
		}
		p.message = -1
		if err := here.w.end(p); err != nil {
			return err
		}
	}
	return nil
}

func (p *path) beginAt(c Cursor, begin func(*path) error) error {
	p.begun, p.from = true, c.Revision
	return begin(p)
}

// beginsWith says whether a message tells where a stream begins.
func (s *Stream) beginsWith(m Message) bool {
	return s.Start == FromNow && m.Kind == MessageOpened || s.Start == FromSnapshot && m.Kind == MessageSnapshotEnd
}

// begins is the revision that a stream begins behind; false where it was cut
// before it told.
func (s *Stream) begins() (revision int64, told bool) {
	if s.Start == FromCursor {
		return s.After.Revision, true
	}
	for _, m := range s.Messages {
		if s.beginsWith(m) {
			return m.Cursor.Revision, true
		}
	}
	return 0, false
}

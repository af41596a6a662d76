package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is how many bytes a line may have. A message that a call takes has at
// most 16 MiB, and JSON is seldom four times as long as what it says.
const MaxLine = 64 << 20

// Lines reads a text line by line. A byte order mark at its beginning, blank
// lines, blanks around a line and any kind of line end (LF, CR LF, CR) make no
// difference. It holds one line at a time.
type Lines struct {
	from *bufio.Reader
	most int
	// line is the number of the line that was begun last.
	line int
	// cr: the line before ended with a CR, so an LF belongs to that.
	cr  bool
	buf []byte
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{from: bufio.NewReaderSize(r, 64<<10), most: MaxLine} }

// Next is the next line that is not blank, and its number, counted from 1. The
// text is good until the next call. The error is io.EOF after the last line.
func (l *Lines) Next() (line int, text []byte, err error) {
	for {
		if err := l.read(); err != nil {
			return l.line, nil, err
		}
		if text := bytes.Trim(l.buf, " \t"); len(text) > 0 {
			return l.line, text, nil
		}
	}
}

// read puts the next line, without its end, into buf.
func (l *Lines) read() error {
	l.buf = l.buf[:0]
	begun := false
	for {
		some, err := l.from.Peek(1)
		if len(some) == 0 {
			if errors.Is(err, io.EOF) && begun {
				break
			}
			return err
		}
		some, _ = l.from.Peek(l.from.Buffered())
		if l.cr && some[0] == '\n' {
			_, _ = l.from.Discard(1) // it is buffered
			l.cr = false
			continue
		}
		l.cr = false
		if !begun {
			begun = true
			l.line++
		}
		end := bytes.IndexAny(some, "\r\n")
		if end < 0 {
			l.buf = append(l.buf, some...)
			_, _ = l.from.Discard(len(some))
		} else {
			l.buf = append(l.buf, some[:end]...)
			l.cr = some[end] == '\r'
			_, _ = l.from.Discard(end + 1)
		}
		if len(l.buf) > l.most {
			return fmt.Errorf("line %d is longer than %d bytes", l.line, l.most)
		}
		if end >= 0 {
			break
		}
	}
	if l.line == 1 {
		l.buf = bytes.TrimPrefix(l.buf, []byte("\xef\xbb\xbf"))
	}
	return nil
}

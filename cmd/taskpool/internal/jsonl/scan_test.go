package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// all are the lines of a text, each with its number.
func all(t *testing.T, lines *Lines) []string {
	t.Helper()
	var got []string
	for {
		line, text, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d:%s", line, text))
	}
}

func TestLines(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", ""},
		"LF":              {"a\nb\n", "1:a 2:b"},
		"no end":          {"a\nb", "1:a 2:b"},
		"CR LF":           {"a\r\nb\r\n", "1:a 2:b"},
		"CR":              {"a\rb\r", "1:a 2:b"},
		"mixed":           {"a\rb\r\nc\n\rd\n", "1:a 2:b 3:c 5:d"},
		"blank":           {"\n \t\na\n\r\n\nb\n\n", "3:a 6:b"},
		"blanks around":   {"  a b\t\n", "1:a b"},
		"byte order mark": {"\ufeffa\nb", "1:a 2:b"},
		"a mark alone":    {"\ufeff\r\na", "2:a"},
		"no mark later":   {"a\n\ufeffb", "1:a 2:\ufeffb"},
	} {
		for how, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text)), "with the end": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			if got := strings.Join(all(t, NewLines(r)), " "); got != c.want {
				t.Errorf("%s, %s: got %q, want %q", name, how, got, c.want)
			}
		}
	}
}

func TestLines_longOnes(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	if got := all(t, NewLines(strings.NewReader(long+"\r\n"+long))); len(got) != 2 || got[1] != "2:"+long {
		t.Errorf("%d lines", len(got))
	}
	lines := NewLines(strings.NewReader("a\n" + long))
	lines.most = 100_000
	if _, _, err := lines.Next(); err != nil {
		t.Fatal(err)
	}
	if line, _, err := lines.Next(); err == nil || line != 2 || !strings.Contains(err.Error(), "line 2 is longer than 100000 bytes") {
		t.Errorf("line %d: %v", line, err)
	}
	broken := errors.New("the disk is gone")
	if _, _, err := NewLines(iotest.ErrReader(broken)).Next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// Whatever the bytes and however they come, lines are those of the text with one
// kind of line end.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\r\n\rb", "\ufeff\ufeff", "\xef\xbb", "\r\r\n\n", "x\x00\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		normal := bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		normal = bytes.ReplaceAll(normal, []byte("\r\n"), []byte("\n"))
		normal = bytes.ReplaceAll(normal, []byte("\r"), []byte("\n"))
		var want []string
		for i, line := range bytes.Split(normal, []byte("\n")) {
			if line = bytes.Trim(line, " \t"); len(line) > 0 {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		if got := all(t, NewLines(bytes.NewReader(text))); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got := all(t, NewLines(iotest.OneByteReader(bytes.NewReader(text)))); !slices.Equal(got, want) {
			t.Fatalf("byte by byte: got %q, want %q", got, want)
		}
	})
}

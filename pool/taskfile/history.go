package taskfile

import (
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// escapes are those of [task.HistoryLine], and what each stands for.
var escapes = [...]struct{ written, read string }{
	{`\\`, `\`},
	{`\n`, "\n"},
	{`\r`, "\r"},
	{`\v`, "\v"},
	{`\f`, "\f"},
	{`\u0085`, "\u0085"},
	{`\u2028`, "\u2028"},
	{`\u2029`, "\u2029"},
}

// breaks are the characters that no written entry has.
const breaks = "\n\r\v\f\u0085\u2028\u2029"

// renderHistory is entries as a file has them.
func renderHistory(entries []Entry) string {
	var b strings.Builder
	for i, e := range entries {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(task.HistoryLine(e.At, e.Text))
	}
	return b.String()
}

// lengthBeyond says whether a history is longer than most as it is written, and
// how long it is then. written is what it was read of.
func lengthBeyond(most int, history []Entry, written string) (n int, beyond bool) {
	if len(written) <= most/8 {
		return 0, false // what is added to it, escapes and a first time, is less
	}
	n = task.Length(renderHistory(history))
	return n, n > most
}

// readHistory takes a file's history apart. Nothing of it is lost but entries of
// white space alone, which no pool takes, and the breaks between entries, which
// may be LF, CRLF or CR. Text before the first entry with a time gets that time;
// where none has one, it has none.
func readHistory(s string) []Entry {
	var entries []Entry
	var at time.Time // of the entry that goes on
	text := 0        // where its text begins
	end := 0         // where the line before ends
	for line := 0; line <= len(s); {
		length := strings.IndexAny(s[line:], "\n\r")
		if length < 0 {
			length = len(s) - line
		}
		if next, stamp, ok := readStamp(s[line : line+length]); ok {
			if line > 0 {
				entries = appendEntry(entries, at, s[text:end])
			}
			at, text = next, line+stamp
		}
		end = line + length
		line = end + 1
		if strings.HasPrefix(s[end:], "\r\n") {
			line++
		}
	}
	entries = appendEntry(entries, at, s[text:])
	if len(entries) > 1 && entries[0].At.IsZero() {
		entries[0].At = entries[1].At
	}
	return entries
}

func appendEntry(entries []Entry, at time.Time, text string) []Entry {
	if text = unescape(text); strings.TrimSpace(text) == "" {
		return entries
	}
	return append(entries, Entry{At: at, Text: text})
}

// maxStamp is more than any instant takes.
const maxStamp = len("[2006-01-02T15:04:05.000000000+00:00] ")

// readStamp reads the instant that a line begins with, and its length with all
// around it. The instant of the year 1 that stands for none is none here.
func readStamp(line string) (at time.Time, length int, ok bool) {
	if !strings.HasPrefix(line, "[") {
		return time.Time{}, 0, false
	}
	end := strings.Index(line[:min(len(line), maxStamp)], "] ")
	if end < 0 {
		return time.Time{}, 0, false
	}
	at, err := time.Parse(time.RFC3339Nano, line[1:end])
	if err != nil {
		return time.Time{}, 0, false
	}
	at = at.UTC()
	if year := at.Year(); at.IsZero() || year < 1 || year > 9999 {
		return time.Time{}, 0, false
	}
	return at, end + len("] "), true
}

// unescape is the text of an entry as it was meant, see the package's promise.
func unescape(s string) string {
	if !strings.Contains(s, `\`) || strings.ContainsAny(s, breaks) {
		return s
	}
	var b strings.Builder
	for rest := s; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:i])
		read, length := readEscape(rest[i:])
		if length == 0 {
			return s
		}
		b.WriteString(read)
		rest = rest[i+length:]
	}
}

// readEscape reads the escape that s begins with, and its length, 0 for none.
func readEscape(s string) (read string, length int) {
	for _, e := range escapes {
		if strings.HasPrefix(s, e.written) {
			return e.read, len(e.written)
		}
	}
	return "", 0
}

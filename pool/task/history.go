package task

import (
	"strings"
	"time"
)

// historyTime is ISO 8601 in UTC with milliseconds, as llm-chat-task writes it.
const historyTime = "2006-01-02T15:04:05.000Z"

// lineEscaper writes a backslash and everything that any program takes for a
// line break as an escape, so that what is one entry stays one line.
var lineEscaper = strings.NewReplacer(
	`\`, `\\`,
	"\n", `\n`,
	"\r", `\r`,
	"\v", `\v`,
	"\f", `\f`,
	"\u0085", `\u0085`,
	"\u2028", `\u2028`,
	"\u2029", `\u2029`,
)

// HistoryLine is a progress entry as the log shows it, in one line:
//
//	[2026-01-02T03:04:05.678Z] text
//
// Line breaks and backslashes in the text are escaped, so no entry can pass
// itself off as two. [Length] of it is what counts against HistoryLength.
func HistoryLine(at time.Time, text string) string {
	return "[" + at.UTC().Format(historyTime) + "] " + lineEscaper.Replace(text)
}

// HistoryFits says whether one more line fits into a log of count lines that
// have length code points together (Task.HistoryCount and HistoryLength, which
// do not count line breaks). The cap is over the lines joined by newline.
func HistoryFits(length, count int, line string, l Limits) bool {
	return length+Length(line)+count <= l.HistoryLength
}

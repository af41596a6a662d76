package task

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	family  = "👨‍👩‍👧‍👦"                   // 7 code points, one cluster
	flag    = "🇩🇪"                        // 2 code points
	accent  = "e\u0301"                   // 2 code points
	zalgo   = "Z\u0300\u0301\u0302\u0303" // 5 code points
	skin    = "👍🏽"                        // 2 code points
	hangul  = "\u1112\u1161\u11ab"        // 3 code points, one syllable
	devanag = "क्षि"                      // conjunct
)

func TestPreview(t *testing.T) {
	for _, c := range []struct {
		name, in string
		n        int
		want     string
	}{
		{"empty", "", 3, ""},
		{"shorter", "ab", 3, "ab"},
		{"exact", "abc", 3, "abc"},
		{"one more", "abcd", 3, "abc..."},
		{"CJK exact", "任务池", 3, "任务池"},
		{"CJK cut", "任务池好", 3, "任务池..."},
		{"emoji exact", "😀😀", 2, "😀😀"},
		{"emoji cut", "😀😀😀", 2, "😀😀..."},
		{"family whole", "a" + family, 8, "a" + family},
		{"family is not cut", "a" + family + "b", 7, "a..."},
		{"family fits", "a" + family + "b", 8, "a" + family + "..."},
		{"family alone too long", family + "b", 3, "👨\u200d👩..."},
		{"flag is not cut", "a" + flag + "b", 2, "a..."},
		{"second flag is not cut", flag + flag + "b", 3, flag + "..."},
		{"accent stays", "caf" + accent + "x", 4, "caf..."},
		{"accent fits", "caf" + accent + "x", 5, "caf" + accent + "..."},
		{"accent on the cut", "ab\u0301", 2, "a..."},
		{"skin tone", "ok" + skin + "!", 3, "ok..."},
		{"hangul", "a" + hangul + "b", 3, "a..."},
		{"CR LF stays together", "ab\r\ncd", 3, "ab..."},
		{"LF CR does not", "ab\n\rcd", 3, "ab\n..."},
		{"all one cluster", zalgo, 2, "Z\u0300..."},
		{"zero", "abc", 0, "..."},
		{"negative", "abc", -3, "..."},
		{"zero of nothing", "", 0, ""},
		{"not UTF-8", "\xff\xfe\xfd", 2, "\xff\xfe..."},
	} {
		if got := Preview(c.in, c.n); got != c.want {
			t.Errorf("%s: Preview(%q, %d) = %q, want %q", c.name, c.in, c.n, got, c.want)
		}
	}
}

// naivePreview goes over all clusters from the start.
func naivePreview(s string, n int) string {
	n = max(n, 0)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	kept, length := 0, 0
	for graphemes := uniseg.NewGraphemes(s); graphemes.Next(); {
		length += utf8.RuneCountInString(graphemes.Str())
		if length > n {
			break
		}
		kept += len(graphemes.Str())
	}
	if kept == 0 {
		for range n {
			_, size := utf8.DecodeRuneInString(s[kept:])
			kept += size
		}
	}
	return s[:kept] + "..."
}

func TestPreviewAgreesWithWholeSegmentation(t *testing.T) {
	text := "ab" + family + "c" + flag + flag + "\r\n" + accent + "任务" + zalgo + devanag + hangul + skin + "\u200d\u0600x" + flag + "z\r\r\n"
	for n := range Length(text) + 2 {
		if got, want := Preview(text, n), naivePreview(text, n); got != want {
			t.Errorf("at %d: %q, want %q", n, got, want)
		}
	}
}

// A cluster without end costs no more than what is kept of it.
func TestPreviewOfEndlessCluster(t *testing.T) {
	text := "Z" + strings.Repeat("\u0301", 1_000_000)
	if got := Preview(text, 10); Length(got) != 13 {
		t.Errorf("got %d code points", Length(got))
	}
	if allocs := testing.AllocsPerRun(10, func() { Preview(text[:100], 200) }); allocs != 0 {
		t.Errorf("%v allocations for a text that is not cut", allocs)
	}
}

func FuzzPreview(f *testing.F) {
	for _, s := range []string{"", "abc", family + family, flag + flag + flag, zalgo + "a", "a\r\nb\n\r", "\xff\xf0\x9f", "任务池" + accent, devanag, "\u0600a\u0600"} {
		for _, n := range []int{0, 1, 2, 3, 7} {
			f.Add(s, n)
		}
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		got := Preview(s, n)
		if want := naivePreview(s, n); got != want {
			t.Fatalf("Preview(%q, %d) = %q, want %q", s, n, got, want)
		}
		if got != s && Length(strings.TrimSuffix(got, "...")) > max(n, 0) {
			t.Errorf("Preview(%q, %d) keeps %d code points", s, n, Length(got)-3)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Preview(%q, %d) is not UTF-8", s, n)
		}
	})
}

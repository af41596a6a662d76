package task

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Preview cuts s to at most n code points and adds "..." when it did cut. It
// never cuts within a grapheme cluster (a family emoji, a letter with its
// marks, CR LF), so the result may be shorter; only a first cluster that is
// itself longer than n is cut between code points. n below 0 counts as 0. A
// byte that is not UTF-8 counts as one code point and is kept as it is.
func Preview(s string, n int) string {
	cut, next := offsets(s, max(n, 0))
	if cut == len(s) {
		return s
	}
	return s[:clusterBoundary(s[:next], cut)] + "..."
}

// offsets gives the byte offsets behind the first n code points of s, and
// behind one more.
func offsets(s string, n int) (cut, next int) {
	if len(s) <= n {
		return len(s), len(s)
	}
	for range n {
		if cut == len(s) {
			return cut, cut
		}
		_, size := utf8.DecodeRuneInString(s[cut:])
		cut += size
	}
	_, size := utf8.DecodeRuneInString(s[cut:])
	return cut, cut + size
}

// clusterBoundary gives the last boundary between clusters of s at or before
// cut; cut itself when the only one is the start. s ends one code point behind
// cut, which is as far ahead as the rules of segmentation look.
func clusterBoundary(s string, cut int) int {
	boundary := asciiBoundary(s, cut)
	if boundary == cut {
		return cut
	}
	for rest, state := s[boundary:], -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if boundary+len(cluster) > cut {
			break
		}
		boundary += len(cluster)
	}
	if boundary == 0 {
		return cut
	}
	return boundary
}

// asciiBoundary gives the last boundary at or before cut that needs no tables:
// between two ASCII characters, CR LF excepted, or the start.
func asciiBoundary(s string, cut int) int {
	for i := cut; i > 0; i-- {
		if s[i-1] < utf8.RuneSelf && s[i] < utf8.RuneSelf && (s[i-1] != '\r' || s[i] != '\n') {
			return i
		}
	}
	return 0
}

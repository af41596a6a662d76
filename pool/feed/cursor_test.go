package feed

import (
	"errors"
	"strings"
	"testing"
)

func TestCursor_roundTrip(t *testing.T) {
	for name, c := range map[string]Cursor{
		"zero":    {},
		"usual":   {Epoch: "dd0f4377a40ad2fc", Revision: 8, Nonce: 1 << 63},
		"largest": {Epoch: strings.Repeat("e", 20), Revision: 1 << 62, Nonce: ^uint64(0), Filter: ^uint32(0)},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.String()
			got, err := Parse(s)
			if err != nil || got != c {
				t.Errorf("Parse(%q) = %+v, %v; want %+v", s, got, err, c)
			}
			if len(s) > 80 {
				t.Errorf("%q has %d bytes", s, len(s))
			}
		})
	}
}

func TestParse_refusesWhatItDidNotWrite(t *testing.T) {
	good := Cursor{Epoch: "dd0f4377a40ad2fc", Revision: 300, Nonce: 7}.String()
	flipped := []byte(good)
	flipped[10] ^= 1
	for name, s := range map[string]string{
		"empty": "", "words": "not a cursor", "cut": good[:len(good)-1], "longer": good + "A", "padded": good + "=",
		"flipped": string(flipped), "huge": strings.Repeat("A", 1<<20), "spaced": " " + good, "broken": good[:5] + "\n" + good[5:],
	} {
		if c, err := Parse(s); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: Parse = %+v, %v; want ErrMalformed", name, c, err)
		}
	}
}

// FuzzParse checks that any text is either refused or the one text of its cursor.
func FuzzParse(f *testing.F) {
	f.Add(Cursor{}.String())
	f.Add(Cursor{Epoch: "dd0f4377a40ad2fc", Revision: 1 << 40, Nonce: 9, Filter: 3}.String())
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := Parse(s); err == nil && c.String() != s {
			t.Errorf("%q parses, but is written %q", s, c.String())
		}
	})
}

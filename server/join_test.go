package server

import (
	"bytes"
	"testing"
)

// Pieces become one only where they lie behind each other in one array.
func TestJoin(t *testing.T) {
	array := []byte("abcdefghi")
	for name, c := range map[string]struct {
		pieces [][]byte
		want   int
	}{
		"end to end":          {[][]byte{array[0:2], array[2:5], array[5:9]}, 1},
		"with a gap":          {[][]byte{array[0:2], array[3:5]}, 2},
		"the other way round": {[][]byte{array[2:5], array[0:2]}, 2},
		"without the room":    {[][]byte{array[0:2:2], array[2:5]}, 2},
		"of two arrays":       {[][]byte{array[0:2], []byte("cde")}, 2},
		"one that is empty":   {[][]byte{array[0:2], {}, array[2:4]}, 3},
		"alone":               {[][]byte{array}, 1},
		"the same twice":      {[][]byte{array[0:2], array[0:2]}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var joined [][]byte
			for _, p := range c.pieces {
				joined = join(joined, p)
			}
			if len(joined) != c.want || !bytes.Equal(bytes.Join(joined, nil), bytes.Join(c.pieces, nil)) {
				t.Errorf("got %q, want %d pieces of %q", joined, c.want, c.pieces)
			}
		})
	}
	if string(array) != "abcdefghi" {
		t.Errorf("the array is %s now", array)
	}
}

package pool

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// What is laid down stays as it is, whoever lays what behind it, also where it is
// too long for the piece.
func TestStrip_keepsWhatWasLaid(t *testing.T) {
	var s strip
	var wg sync.WaitGroup
	for who := range 8 {
		wg.Go(func() {
			var laid, want [][]byte
			for i := range 500 {
				b := bytes.Repeat(fmt.Append(nil, who), 1+i%300*(1+i%7*20))
				laid = append(laid, s.lay(func(dst []byte) []byte { return append(dst, b...) }))
				want = append(want, b)
			}
			for i := range laid {
				if !bytes.Equal(laid[i], want[i]) {
					t.Errorf("%d laid %q, and there is %q", who, want[i], laid[i])
				}
			}
		})
	}
	wg.Wait()
}

// Nobody waits while another encodes.
func TestStrip_encodesUnlocked(t *testing.T) {
	var s strip
	s.lay(func(dst []byte) []byte {
		s.lay(func(dst []byte) []byte { return append(dst, 1) }) // would lock up
		return append(dst, 2)
	})
}

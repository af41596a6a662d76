package pool

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// What is laid down stays as it is, whoever lays what behind it, also where it was
// more than had been said.
func TestStrip_keepsWhatWasLaid(t *testing.T) {
	var s strip
	var wg sync.WaitGroup
	for who := range 8 {
		wg.Go(func() {
			var laid, want [][]byte
			for i := range 500 {
				b := bytes.Repeat(fmt.Append(nil, who), 1+i%300)
				laid = append(laid, s.lay(max(len(b)-i%3, 1), func(dst []byte) []byte { return append(dst, b...) }))
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

package memory

import (
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

type expiry struct {
	key store.Key
	at  time.Time
}

// expiries is a heap (container/heap) with the earliest first.
type expiries []expiry

func (h expiries) Len() int           { return len(h) }
func (h expiries) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h expiries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiries) Push(x any)        { *h = append(*h, x.(expiry)) }

func (h *expiries) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

package pool

import "sync/atomic"

// health is what the last touch of the store came to.
type health struct{ err atomic.Pointer[error] }

func (h *health) set(err error) {
	if err == nil {
		h.err.Store(nil)
		return
	}
	h.err.Store(&err)
}

func (h *health) get() error {
	if p := h.err.Load(); p != nil {
		return *p
	}
	return nil
}

func (h *health) failing() bool { return h.err.Load() != nil }

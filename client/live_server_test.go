package client_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	taskserver "github.com/taskpool-dev/taskpool/server"
)

// serveLive serves a store with a real server, until stop is called or the test
// ends.
func serveLive(t *testing.T, s store.Store) (addr string, stop func()) {
	t.Helper()
	registry, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	serving, err := taskserver.New(registry, taskserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(ctx, listener, nil) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		registry.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// cutter is a proxy that cuts every connection after a random number of bytes.
type cutter struct {
	addr string
	most int64 // bytes of a connection

	mu     sync.Mutex
	chance *rand.Rand // guarded by mu, as all below
	to     string     // "": nowhere
	cuts   int
	open   map[net.Conn]bool
	closed bool
}

// newCutter starts a proxy, which ends with the test.
func newCutter(t *testing.T, seed uint64, most int64) *cutter {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{addr: listener.Addr().String(), chance: rand.New(rand.NewPCG(seed, 0)), most: most, open: map[net.Conn]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := c.dial()
			if err != nil {
				_ = near.Close()
				continue
			}
			if !c.hold(near, far) {
				return
			}
			work.Go(func() { _, _ = io.Copy(far, near); c.end(near, far) })
			work.Go(func() { c.carry(near, far); c.end(near, far) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		c.mu.Lock()
		c.closed = true
		for conn := range c.open {
			_ = conn.Close()
		}
		c.mu.Unlock()
		work.Wait()
	})
	return c
}

// lead has connections lead to addr from now on; "": nowhere.
func (c *cutter) lead(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = addr
}

func (c *cutter) dial() (net.Conn, error) {
	c.mu.Lock()
	to := c.to
	c.mu.Unlock()
	if to == "" {
		return nil, errors.New("it leads nowhere")
	}
	return net.Dial("tcp", to)
}

// carry takes a random number of bytes from far to near.
func (c *cutter) carry(near, far net.Conn) {
	c.mu.Lock()
	bytes := c.chance.Int64N(c.most)
	c.mu.Unlock()
	if _, err := io.CopyN(near, far, bytes); err == nil {
		c.mu.Lock()
		c.cuts++
		c.mu.Unlock()
	}
}

// hold takes note of connections, so that none is left over; false: it is too
// late, and they are closed.
func (c *cutter) hold(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if c.closed {
			_ = conn.Close()
		}
		c.open[conn] = true
	}
	return !c.closed
}

func (c *cutter) end(conns ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close()
		delete(c.open, conn)
	}
}

func (c *cutter) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

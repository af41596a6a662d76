package server_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/server"
)

// dial is the same server at an address.
func (f *fixture) dial(addr string) *fixture {
	f.t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	other := *f
	other.conn, other.tasks, other.pools = conn, taskpoolv1.NewTaskServiceClient(conn), taskpoolv1.NewPoolServiceClient(conn)
	return &other
}

// again watches on after what a watch that ended has: from its last cursor, or
// from the beginning where it has none.
func (f *fixture) again(old *watching, req *taskpoolv1.WatchTasksRequest) *watching {
	f.t.Helper()
	if old == nil || old.cursor == "" {
		return f.watch(req)
	}
	req = proto.CloneOf(req)
	req.Start = after(old.cursor)
	w := f.watch(req)
	w.cursor, w.tasks, w.revision, w.seen = old.cursor, old.tasks, old.revision, old.seen
	return w
}

// Cut after each single message, and at any byte, a watch goes on with the next
// change: none twice, none left out, in order. All changes here are revisions of
// their own, so `seen` and `revision` of a watch tell.
func TestWatch_cutAtEachMessage(t *testing.T) {
	f := start(t)
	for i := range 5 {
		f.create(fmt.Sprint("before ", i))
	}
	req := &taskpoolv1.WatchTasksRequest{}
	w := f.watch(req).opened()
	w.leave() // before the snapshot
	w = f.watch(req).opened()
	w.next()
	w.leave() // within it
	w = f.watch(req)
	w.snapshot()
	for i := range 40 {
		f.create(fmt.Sprint("t", i))
		if i%2 == 0 {
			w = f.again(w, req).opened()
			w.leave() // before anything has come
		}
		w = f.again(w, req).opened()
		w.changes(1)
		w.leave()
	}
	w = f.again(w, req)
	w.upTo(f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor())
	w.isListing(f, nil)
	w.consecutive(40)
}

// consecutive checks that a watch has seen that many revisions, without a gap.
func (w *watching) consecutive(n int) {
	w.t.Helper()
	if len(w.seen) != n {
		w.t.Errorf("%d changes came, want %d", len(w.seen), n)
	}
	revisions := map[int64]bool{}
	for once := range w.seen {
		var revision int64
		var id string
		if _, err := fmt.Sscan(once, &revision, &id); err != nil {
			w.t.Fatal(err)
		}
		revisions[revision] = true
	}
	for i := range int64(n) {
		if !revisions[w.revision-i] {
			w.t.Errorf("revision %d was left out", w.revision-i)
		}
	}
}

// cutter is a TCP proxy whose connections break after some bytes from the
// server.
type cutter struct {
	net.Listener
	target string
	work   sync.WaitGroup
	// after is how many bytes the next connection lasts.
	after func() int64
}

func cutting(t *testing.T, target string, after func() int64) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, target: target, after: after}
	c.work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.work.Go(func() { c.forward(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.work.Wait()
	})
	return c
}

func (c *cutter) forward(down net.Conn) {
	defer down.Close()
	up, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(up, down)
		_ = up.Close()
	})
	_, _ = io.CopyN(down, up, c.after())
	_ = up.Close()
	_ = down.Close()
	both.Wait()
}

func TestWatch_cutAnywhere(t *testing.T) {
	f := start(t, func(c *server.Config) { c.WatchProgress = 20 * time.Millisecond })
	addr, _, stop := f.serve()
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	conns := 0
	proxy := cutting(t, addr, func() int64 { // first soon, then late enough for the largest message
		mu.Lock()
		defer mu.Unlock()
		if conns++; conns <= 20 {
			return random.Int64N(6000)
		}
		return random.Int64N(400_000)
	})
	for i := range 5 {
		f.create(fmt.Sprint("before ", i))
	}
	const changes = 400
	written := make(chan string)
	write := sync.OnceFunc(func() {
		go func() {
			for i := range changes - 1 {
				f.create(fmt.Sprint("t", i))
			}
			written <- f.made("the last")
		}()
	})
	var w *watching
	last, cuts := "", 0
	for ; ; cuts++ {
		w = f.dial(proxy.Addr().String()).again(w, &taskpoolv1.WatchTasksRequest{})
		if w.untilCut(func() bool {
			if w.cursor != "" {
				write() // only now, so that no snapshot has it all
			}
			select {
			case last = <-written:
			default:
			}
			return last != "" && w.cursor != "" && revisionOf(t, w.cursor) >= revisionOf(t, last)
		}) {
			break
		}
	}
	t.Logf("it was cut %d times", cuts)
	w.isListing(f, nil)
	w.consecutive(len(w.seen))
	if cuts < 5 || len(w.seen) < changes/2 {
		t.Errorf("it was cut %d times, and %d changes came one by one", cuts, len(w.seen))
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// untilCut reads until there is enough, true, or the connection breaks, false.
func (w *watching) untilCut(enough func() bool) bool {
	w.t.Helper()
	for !enough() {
		if _, err := w.recv(); err != nil {
			if !gone(err) {
				w.t.Fatalf("the watch ended with %v", err)
			}
			return false
		}
	}
	return true
}

// Behind a usual proxy a watch lives on while nothing happens, is told what
// happens, and goes on when the proxy has died.
func TestWatch_behindNginx(t *testing.T) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		give := t.Skip
		if os.Getenv("CI") == "true" {
			give = t.Fatal // it has to run there
		}
		give("there is no nginx: watching through it is not tried")
	}
	f := start(t, func(c *server.Config) { c.WatchProgress = 200 * time.Millisecond })
	addr, _, stop := f.serve()
	front, die := nginx(t, program, addr)
	f.create("before")
	w := f.dial(front).watch(&taskpoolv1.WatchTasksRequest{}).opened()
	w.snapshot()
	for range 15 { // three seconds, and nginx gives up after one of silence
		if m := w.next(); m.GetProgress() == nil {
			t.Fatalf("what comes is %v", m)
		}
	}
	f.fillBatch(600, 1000)
	w.upTo(f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor())
	die()
	w.untilCut(func() bool { return false })
	f.create("meanwhile")
	front, _ = nginx(t, program, addr)
	w = f.dial(front).again(w, &taskpoolv1.WatchTasksRequest{})
	w.upTo(f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor())
	w.isListing(f, nil)
	w.leave()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// nginx starts one in front of a server, and gives its address and what kills it.
func nginx(t *testing.T, program, target string) (addr string, die func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	_ = l.Close()
	dir := t.TempDir()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;"
	}
	config := fmt.Sprintf(`%s
daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http {
  access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen %s http2;
    location / { grpc_pass grpc://%s; grpc_read_timeout 1s; grpc_send_timeout 1s; }
  }
}
`, user, addr, target)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", "nginx.conf", "-e", "stderr")
	var log lines
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	die = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(die)
	eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return addr, die
}

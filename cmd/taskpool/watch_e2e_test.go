package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// watcher is the binary as it watches.
type watcher struct {
	cmd    *exec.Cmd
	lines  chan string
	errs   bytes.Buffer
	cursor string // the last
}

func watching(t *testing.T, addr string, args ...string) *watcher {
	t.Helper()
	w := &watcher{cmd: exec.Command(program.build(t), append([]string{"watch", "--json", "--addr", addr}, args...)...), lines: make(chan string, 1000)}
	w.cmd.Dir = t.TempDir()
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
		close(w.lines)
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-ended
		_ = w.cmd.Wait()
	})
	return w
}

// hears gives the keys of the next n changes.
func (w *watcher) hears(t *testing.T, n int) []string {
	t.Helper()
	var keys []string
	for len(keys) < n {
		select {
		case line, ok := <-w.lines:
			if !ok {
				t.Fatalf("it ended after %v: %s", keys, w.errs.String())
			}
			var change struct {
				Cursor string
				Task   struct{ Key string }
			}
			if err := json.Unmarshal([]byte(line), &change); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if change.Cursor != "" {
				w.cursor = change.Cursor
			}
			if change.Task.Key != "" {
				keys = append(keys, change.Task.Key)
			}
		case <-time.After(patience):
			t.Fatalf("it heard %v only: %s", keys, w.errs.String())
		}
	}
	return keys
}

// end interrupts it, as Ctrl-C does, and gives what it said meanwhile.
func (w *watcher) end(t *testing.T) string {
	t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range w.lines { // to its end
	}
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ended with %v", err)
	}
	return w.errs.String()
}

func TestWatchGoesOnOverCrashesAndRestarts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no interrupting another process")
	}
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data)
	addr := p.grpc
	p.taskpool(t, "task", "create", "--title", "there before")
	w := watching(t, addr)
	heard := w.hears(t, 1)
	middle := w.cursor
	p.taskpool(t, "task", "create", "--title", "one")
	heard = append(heard, w.hears(t, 1)...)
	p.kill(t)

	p = start(t, data, "--grpc-addr", addr)
	p.taskpool(t, "task", "create", "--title", "after the crash")
	heard = append(heard, w.hears(t, 1)...)
	p.taskpool(t, "task", "update", "T-1", "--status", "done")
	heard = append(heard, w.hears(t, 1)...)
	p.terminate(t)

	p = start(t, data, "--grpc-addr", addr)
	p.taskpool(t, "task", "create", "--title", "after the restart")
	heard = append(heard, w.hears(t, 1)...)
	if !slices.Equal(heard, []string{"T-1", "T-2", "T-3", "T-1", "T-4"}) {
		t.Errorf("heard %v", heard)
	}
	// An earlier cursor brings the rest again, and nothing else.
	again := watching(t, addr, "--after", middle)
	if got := again.hears(t, len(heard)-1); !slices.Equal(got, heard[1:]) {
		t.Errorf("after the first cursor it heard %v", got)
	}
	if said := again.end(t); said != "" {
		t.Errorf("it said %q", said)
	}
	lost, back := "lost the connection to "+addr+" (", "connected to "+addr+" again\n"
	if said := w.end(t); strings.Count(said, lost) != 2 || strings.Count(said, back) != 2 || strings.Count(said, "\n") != 4 {
		t.Errorf("it said\n%s", said)
	}
}

func TestWatchEndsQuietlyWithItsReader(t *testing.T) {
	p := start(t, "memory")
	p.taskpool(t, "task", "create", "--title", "there")
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd := exec.Command(program.build(t), "watch", "--addr", p.grpc)
	cmd.Stdout, cmd.Stderr = out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if _, err := r.Read(make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	_ = r.Close() // head -1 has what it wanted
	p.taskpool(t, "task", "create", "--title", "nobody wants to know")
	_ = cmd.Wait()
	if errs.Len() > 0 {
		t.Errorf("it said %q", errs.String())
	}
}

// Package crash_test kills a serving taskpool over and over, and checks that what
// was acknowledged is there and that what is there can be explained.
package crash_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary builds the product once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "taskpool-crash")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "taskpool")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/taskpool").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// process is one run of `taskpool serve`.
type process struct {
	cmd  *exec.Cmd
	addr string
	// rest is what it said on stderr, complete once ended is closed.
	rest  strings.Builder
	ended chan struct{}
}

// serve starts the product on a data directory and waits until it listens.
func serve(t *testing.T, dir string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(path, "serve", "--data", dir, "--grpc-addr", "127.0.0.1:0", "--http-addr", ""), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "LLM_CHAT_TASK_MAX_HISTORY_LENGTH=10000000") // all writers share one log
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	listening := make(chan string, 1)
	go p.listen(stderr, listening)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case p.addr = <-listening:
	case <-p.ended:
		t.Fatalf("serve ended: %s", p.rest.String())
	case <-ctx.Done():
		t.Fatalf("serve did not listen within a minute")
	}
	return p
}

// listen reads stderr to its end and passes on the address of the line that
// says so.
func (p *process) listen(stderr io.Reader, listening chan<- string) {
	defer close(p.ended)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&p.rest, line)
		if _, after, ok := strings.Cut(line, "taskpool: listening grpc="); ok {
			addr, _, _ := strings.Cut(after, " ")
			listening <- addr
		}
	}
}

// kill ends the process at once, as a power cut would end it, and waits until it
// is gone. More than once is fine.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
	_ = p.cmd.Wait()
}

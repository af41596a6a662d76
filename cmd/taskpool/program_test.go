package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take on a busy machine.
const patience = 30 * time.Second

// program is the built binary, made when the first test needs it.
var program binary

type binary struct {
	once      sync.Once
	dir, path string
	err       error
}

// build gives the binary's path.
func (b *binary) build(t *testing.T) string {
	t.Helper()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "taskpool-test-"); b.err != nil {
			return
		}
		b.path = filepath.Join(b.dir, "taskpool")
		if out, err := exec.Command("go", "build", "-o", b.path, ".").CombinedOutput(); err != nil {
			b.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.path
}

func (b *binary) remove() {
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
}

// process is a running server.
type process struct {
	cmd              *exec.Cmd
	grpc, http, data string
	ended            chan struct{}
	lines            chan string // of standard error, before and after the one that it listens
}

var listeningLine = regexp.MustCompile(`^taskpool: listening grpc=(\S+) http=(\S+) data=(.*)$`)

// start runs a server on free ports and waits until it listens.
func start(t *testing.T, data string, args ...string) *process {
	t.Helper()
	args = append([]string{"serve", "--data", data, "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"}, args...)
	p := &process{cmd: exec.Command(program.build(t), args...), ended: make(chan struct{}), lines: make(chan string, 1000)}
	p.cmd.Dir = t.TempDir() // where no taskpool.yaml is
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listens := make(chan []string, 1)
	go func() {
		defer close(p.ended)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			if found := listeningLine.FindStringSubmatch(scanner.Text()); found != nil {
				listens <- found
			}
			select {
			case p.lines <- scanner.Text():
			default:
			}
		}
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	select {
	case found := <-listens:
		p.grpc, p.http, p.data = found[1], found[2], found[3]
	case <-p.ended:
		t.Fatalf("the server ended at once: %s", p.said())
	case <-time.After(patience):
		t.Fatalf("the server does not listen: %s", p.said())
	}
	return p
}

// said is what the process wrote so far.
func (p *process) said() string {
	var b strings.Builder
	for {
		select {
		case line := <-p.lines:
			b.WriteString(line + "\n")
		default:
			return b.String()
		}
	}
}

// kill ends the process as a power cut would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

// terminate asks the process to end, and waits until it did.
func (p *process) terminate(t *testing.T) *os.ProcessState {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return p.wait(t)
}

func (p *process) wait(t *testing.T) *os.ProcessState {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the server does not end: %s", p.said())
	}
	return p.cmd.ProcessState
}

// taskpool runs the binary as a client of p, and gives its standard output.
func (p *process) taskpool(t *testing.T, args ...string) string {
	t.Helper()
	r := invoke(t, "", append(args, "--addr", p.grpc)...)
	if r.code != exitDone {
		t.Fatalf("%v: %+v", args, r)
	}
	return r.out
}

// invoke runs the binary.
func invoke(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.build(t), args...)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Writer(&out), io.Writer(&errs)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

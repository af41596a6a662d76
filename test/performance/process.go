package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement.
type process struct {
	cmd        *exec.Cmd
	grpc, http string
}

var listens = regexp.MustCompile(`listening grpc=(\S+) http=(\S+)`)

// start runs a server and waits until it listens.
func start(ctx context.Context, name string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the program's own flags
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, pipe) }() // ends with the process
			return &process{cmd: cmd, grpc: m[1], http: m[2]}, nil
		}
	}
	return nil, fmt.Errorf("%s did not start: %w", name, cmd.Wait())
}

// product starts taskpool.
func (b *bench) product(ctx context.Context, data string) (*process, error) {
	return start(ctx, b.binary, "serve", "--data", data, "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--pprof", "--log-level", "error")
}

// empty starts a server that answers at once.
func (b *bench) empty(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, self, append([]string{"empty"}, args...)...)
}

func (p *process) stop() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if waited := p.cmd.Wait(); waited != nil {
		var exit *exec.ExitError
		if !errors.As(waited, &exit) || exit.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			err = errors.Join(err, waited)
		}
	}
	return err
}

// cpu is the processor time that the process has used.
func (p *process) cpu() time.Duration {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.cmd.Process.Pid))
	total := time.Duration(0)
	for _, path := range tasks {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // that thread has ended
		}
		n, _ := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
		total += time.Duration(n)
	}
	return total
}

// rss is the memory it has in use.
func (p *process) rss() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// profile takes a processor profile and gives its functions, the most expensive
// first.
func (p *process) profile(ctx context.Context, long time.Duration) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", p.http, int(long.Seconds())), nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	file, err := os.CreateTemp("", "taskpool-profile-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if _, err := io.Copy(file, resp.Body); err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-nodecount=60", file.Name()).Output() //nolint:gosec // a file of our own
	return string(out), err
}

//go:build linux

package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

func init() { runChild = beChild }

// child is a running child process; it speaks in lines.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t testing.TB, args ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, " "))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(func() { c.kill() })
	return c
}

// line returns the next line, or "" at the end.
func (c *child) line() string {
	c.lines.Scan()
	return c.lines.Text()
}

// kill is kill -9; it returns when the process is gone, with the lines it said
// that were not read yet.
func (c *child) kill() (lines []string) {
	_ = c.cmd.Process.Kill()
	lines, _ = c.rest()
	return lines
}

// rest reads what the child says until it ends by itself.
func (c *child) rest() (lines []string, err error) {
	for c.lines.Scan() {
		lines = append(lines, c.lines.Text())
	}
	return lines, c.cmd.Wait()
}

func beChild(command string) {
	args := strings.Fields(command)
	switch args[0] {
	case "open":
		s, err := Open(context.Background(), args[1])
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("ok")
		s.Close()
	case "serve":
		serve(args[1], eager)
	case "die":
		n, _ := strconv.Atoi(args[2])
		serve(args[1], dieAt(n, args[3] == "after"))
	case "limit":
		limitFileSize(args[1])
	default:
		panic(command)
	}
}

// serve appends for ever and says each revision of log a that is acknowledged.
func serve(dir string, opt Option) {
	ctx := context.Background()
	s, err := Open(ctx, dir, eager, opt)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	head, err := s.Head(ctx, "a")
	for rev := head.Revision + 1; err == nil; rev++ {
		if err = s.Append(ctx, step(rev)); err == nil {
			fmt.Println(rev)
		}
		if err == nil && rev%10 == 0 {
			err = s.Trim(ctx, "a", rev-20)
		}
	}
	fmt.Println("error:", err)
	os.Exit(1)
}

// dieAt kills the process before or after its nth commit to the file.
func dieAt(n int, after bool) Option {
	return func(s *Store) {
		count := func() error {
			if n--; n == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		}
		if after {
			s.hook.afterCommit = count
		} else {
			s.hook.beforeCommit = count
		}
	}
}

// limitFileSize lives through a limit on the size of files: writes fail in the
// middle with EFBIG, which SQLite calls an I/O error.
func limitFileSize(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	s, err := Open(ctx, dir)
	check(err)
	defer s.Close()
	rev := int64(0)
	next := func() error {
		err := s.Append(ctx, []store.Batch{{Log: "a", After: rev, Commits: []store.Commit{
			{Revision: rev + 1, Facts: []store.Fact{fact(rev+1, strings.Repeat("x", 3000))}},
		}}})
		if err == nil {
			rev++
		}
		return err
	}
	for range 5 {
		check(next())
	}
	var old syscall.Rlimit
	check(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	info, err := os.Stat(s.path() + "-wal")
	check(err)
	limit := old
	limit.Cur = uint64(info.Size()) + 10_000
	check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	for err = next(); err == nil; {
		err = next()
	}
	fmt.Println("failed:", err)
	if !errors.Is(err, store.ErrUnknown) && !errors.Is(err, store.ErrNotApplied) {
		fmt.Println("neither unknown nor not applied")
	}
	for range 3 {
		if err := next(); !errors.Is(err, store.ErrNotApplied) && !errors.Is(err, store.ErrUnknown) {
			fmt.Println("then:", err)
		}
		n := int64(0)
		state, err := s.Load(ctx, "a", func(store.Key, []byte) error { n++; return nil })
		if err != nil || n != rev || state.Head.Revision != rev {
			fmt.Println("Load meanwhile:", n, "records,", state, err)
		}
	}
	check(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	head, err := s.Head(ctx, "a")
	check(err)
	if head.Revision != rev && head.Revision != rev+1 {
		fmt.Println("the head is", head.Revision, "after", rev)
	}
	rev = head.Revision
	for range 5 {
		check(next())
	}
	fmt.Println("end at", rev)
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

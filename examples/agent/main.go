// Command agent gives a language model the tools of a task pool.
//
//	go run ./examples/agent --actor agent:coder --tools openai   # what goes into a request to the model
//	echo '{"name":"create_task","arguments":{"title":"Write the reader"}}' | go run ./examples/agent --actor agent:coder
//
// It has no model of its own: calls come from standard input, one JSON object a
// line, as a model would send them, and results go to standard output. An
// orchestrator puts its provider's client in that place.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/client/tools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	addr := flag.String("addr", "127.0.0.1:7420", "the server's address")
	pool := flag.String("pool", "", `the pool; "" is "default"`)
	actor := flag.String("actor", "", `the agent in whose name all is done, as in "agent:coder"`)
	show := flag.String("tools", "", `print the tools as "openai" or "anthropic" takes them, and end`)
	flag.Parse()
	if err := run(ctx, *addr, *pool, *actor, *show, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, pool, actor, show string, in io.Reader, out io.Writer) error {
	c, err := client.Dial(addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	kit, err := tools.NewTaskToolPackage(c.Connection(), pool, actor)
	if err != nil {
		return err
	}
	switch show {
	case "openai":
		return write(out, openAI(kit.Tools()))
	case "anthropic":
		return write(out, anthropic(kit.Tools()))
	case "":
		return converse(ctx, kit.Tools(), in, out)
	}
	return fmt.Errorf("--tools %s: say openai or anthropic", show)
}

// openAI are the tools as the `tools` of a chat completion.
func openAI(all []tools.Tool) []any {
	var out []any
	for _, t := range all {
		out = append(out, map[string]any{
			"type":     "function",
			"function": map[string]any{"name": t.Name, "description": t.Description, "parameters": t.InputSchema},
		})
	}
	return out
}

// anthropic are the tools as the `tools` of a message.
func anthropic(all []tools.Tool) []any {
	var out []any
	for _, t := range all {
		out = append(out, map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.InputSchema})
	}
	return out
}

// call is what a model asks for.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// converse answers calls until there are no more.
func converse(ctx context.Context, all []tools.Tool, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := write(out, answerLine(ctx, all, line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answerLine answers one line; one that is no call is for the model to mend, too.
func answerLine(ctx context.Context, all []tools.Tool, line []byte) tools.Result {
	var c call
	if err := json.Unmarshal(line, &c); err != nil {
		return tools.Result{Status: tools.StatusError, Text: fmt.Sprintf("this is no call (%v): send {\"name\": …, \"arguments\": {…}} on one line", err)}
	}
	return answer(ctx, all, c)
}

func answer(ctx context.Context, all []tools.Tool, c call) tools.Result {
	var names []string
	for _, t := range all {
		if t.Name == c.Name {
			return t.Call(ctx, c.Arguments)
		}
		names = append(names, t.Name)
	}
	return tools.Result{
		Tool: c.Name, Status: tools.StatusError,
		Text: fmt.Sprintf("there is no tool %q: use %s", c.Name, strings.Join(names, ", ")),
	}
}

func write(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"google.golang.org/grpc"

	"github.com/taskpool-dev/taskpool/client"
)

// callTimeout bounds a call, so that an agent is never left without an answer.
const callTimeout = 30 * time.Second

// TaskToolPackage is the tools of one agent on one pool. It is safe for concurrent
// use.
type TaskToolPackage struct {
	client *client.Client
	tools  []Tool
}

// NewTaskToolPackage makes the tools of an actor ("agent:NAME", "ext:NAME" or
// "human"), in whose name all is done; a server with authentication goes by the
// connection's credential. An empty pool is "default". The connection stays the
// caller's. Nothing is sent before the first call.
func NewTaskToolPackage(conn grpc.ClientConnInterface, pool, actor string) (*TaskToolPackage, error) {
	if conn == nil {
		return nil, errors.New("task tools: a connection is required")
	}
	if strings.TrimSpace(actor) == "" {
		return nil, errors.New(`task tools: an actor is required, such as "agent:coder": everything is done in its name`)
	}
	if !validActor(actor) {
		return nil, fmt.Errorf(`task tools: the actor %q is no member: use agent:NAME, ext:NAME or human`, actor)
	}
	p := &TaskToolPackage{client: client.New(conn, client.WithPool(pool), client.WithActor(actor))}
	for _, d := range []definition{createTool, readTool, updateTool} {
		tool, err := p.tool(d)
		if err != nil {
			return nil, fmt.Errorf("task tools: the schema of %s: %w", d.name, err)
		}
		p.tools = append(p.tools, tool)
	}
	return p, nil
}

// validActor is a first look at an actor: the server has the last word.
func validActor(actor string) bool {
	if actor == "human" {
		return true
	}
	sort, name, _ := strings.Cut(actor, ":")
	return (sort == "agent" || sort == "ext") && name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}

// Tools are create_task, read_task and update_task, in this order. The slice is
// the caller's.
func (p *TaskToolPackage) Tools() []Tool { return append([]Tool(nil), p.tools...) }

// definition is a tool before it has a connection.
type definition struct {
	name, description string
	parameters        parameters
	run               func(ctx context.Context, c *client.Client, a arguments) (string, error)
	// changes: whether it was done may not be known.
	changes bool
}

func (p *TaskToolPackage) tool(d definition) (Tool, error) {
	schema, err := d.parameters.schema()
	return Tool{
		Name: d.name, Description: d.description, InputSchema: schema,
		Call: func(ctx context.Context, raw json.RawMessage) (result Result) {
			result = Result{Tool: d.name, Status: StatusError}
			defer func() {
				if fault := recover(); fault != nil {
					result.Text = fmt.Sprintf("%s failed through a fault of its own, not yours (%v): %s.", d.name, fault, d.unknown())
				}
			}()
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			a, err := d.parameters.read(raw)
			if err == nil {
				result.Text, err = d.run(ctx, p.client, a)
			}
			if err != nil {
				result.Text = d.explain(err)
				return result
			}
			result.Status = StatusSuccess
			return result
		},
	}, err
}

package tools

import (
	"context"
	"encoding/json"
)

// Tool is one thing that an agent can do. It is safe for concurrent use.
type Tool struct {
	// Name is the one the model calls it by, such as "create_task".
	Name string
	// Description tells the model what it does and how to use it well.
	Description string
	// InputSchema is a JSON Schema of an object, in the part of the language that
	// model providers take: it can be sent as OpenAI's `parameters` and as
	// Anthropic's `input_schema`. Callers must not change it.
	InputSchema json.RawMessage
	// Call runs the tool with the arguments that the model sent, a JSON object. It
	// ends with ctx, and by itself after 30 seconds. It never panics.
	Call func(ctx context.Context, arguments json.RawMessage) Result
}

// Status says how a call ended.
type Status string

// The statuses.
const (
	StatusSuccess Status = "success"
	StatusError   Status = "error"
)

// Result is the answer to a call, for the agent to read. Its JSON is what a model
// gets where a provider takes an object.
type Result struct {
	// Tool is the name of the tool that was called.
	Tool string `json:"tool"`
	// Text is the answer: what was done, what was asked for, or what was wrong and
	// what to do about it.
	Text string `json:"result"`
	// Status tells whether it did what was asked. On StatusError nothing was
	// changed, unless Text says that this is not known.
	Status Status `json:"status"`
}

// Package tools gives an agent a task pool: three tools that an orchestrator
// hands to its language model, create_task, read_task and update_task.
//
//	package, err := tools.NewTaskToolPackage(conn, "default", "agent:coder")
//	for _, tool := range package.Tools() {
//		// Name, Description and InputSchema go to the model as they are.
//	}
//	result := tool.Call(ctx, arguments) // what the model sent
//
// A call never panics and never gives a Go error: whatever goes wrong is a text
// for the agent that says what to do. Arguments are checked before anything is
// sent: a name or a type that is not in the schema is refused by name, never
// dropped, and so is the whole call.
//
// The connection may be a network's or that of a server in the same process.
package tools

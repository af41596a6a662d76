package tools

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// plan are the fields that make a task a plan, as both create_task and update_task
// take them, in the order in which a change of them is told. Each says how to fill
// it so that another agent can do the work.
func plan(update bool) parameters {
	none, replaces := []string(nil), ""
	if update {
		none, replaces = []string{noneWord}, " Replaces the whole list; an empty list clears it."
	}
	priorities := append(words.All[taskpoolv1.TaskPriority](), none...)
	types := append(words.All[taskpoolv1.TaskType](), none...)
	list := func(name, description string) parameter {
		return parameter{name: name, kind: texts, description: description + replaces}
	}
	return parameters{
		{name: "title", kind: text, required: !update, description: "Short, specific and imperative, as in \"Add rate limiting to the login endpoint\". Not a topic, not a question."},
		{name: "description", kind: text, description: "The goal: what to do and why, in a few sentences. Whoever reads it knows nothing of this conversation." + ifNone(update)},
		{name: "body", kind: text, description: "Anything longer that the work needs: background, excerpts, a design. Markdown. Leave it out where the other fields say all." + ifNone(update)},
		list("acceptance_criteria", "How anyone can tell that it is done: each a statement that is either true or false, as in \"the tenth login within a minute is answered with 429\"."),
		{name: "priority", kind: word, words: priorities, description: "How urgent it is. Leave it out where nothing presses: most tasks have none." + ifNone(update)},
		{name: "type", kind: word, words: types, description: "What kind of work it is." + ifNone(update)},
		list("links", "URLs that the work needs: issues, documents, examples."),
		list("steps", "What to do, in order, one action each, concrete enough to begin at once."),
		list("context", "What must be known: files, functions, decisions already taken, how things hang together."),
		list("constraints", "What must be kept to: interfaces that stay, libraries not to use, budgets."),
		list("out_of_scope", "What not to do, though it would be near at hand."),
		list("verification", "Commands or checks that prove it, as in \"go test ./login\"."),
		list("edge_cases", "Pitfalls that are known: inputs, races and failures to think of."),
	}
}

// noneWord clears what has a word or a name.
const noneWord = "none"

func ifNone(update bool) string {
	if update {
		return " \"none\" clears it."
	}
	return ""
}

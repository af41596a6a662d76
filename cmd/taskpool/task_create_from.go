package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/drafts"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/jsonl"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// createFrom creates all tasks of a file in one call.
func (a *app) createFrom(ctx context.Context, c *client.Client, name, requestID string) error {
	batch, err := a.readDrafts(name)
	if err != nil {
		return err
	}
	request := &taskpoolv1.CreateTasksRequest{RequestId: requestID, Tasks: batch.tasks()}
	if size := proto.Size(request); size > client.MaxMessageBytes-1024 {
		return fmt.Errorf("%s holds %.1f MiB of tasks and one call takes %d: split it", batch.name, float64(size)/(1<<20), client.MaxMessageBytes>>20)
	}
	answer, err := c.Tasks().CreateTasks(ctx, request)
	if err != nil {
		return batch.refused(err)
	}
	if a.global.json {
		return a.printJSON(answer)
	}
	tasks := answer.GetTasks()
	if len(tasks) == 1 {
		return a.printf("%s %s\n", created(answer.GetReplayed()), headline(tasks[0]))
	}
	return a.printf("%s %d tasks, %s to %s\n", created(answer.GetReplayed()), len(tasks), tasks[0].GetKey(), tasks[len(tasks)-1].GetKey())
}

// batch is what a file holds.
type batch struct {
	name   string
	drafts []drafts.Draft
}

func (a *app) readDrafts(name string) (*batch, error) {
	from, done, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	if name == "-" {
		name = "standard input"
	}
	found, err := drafts.Read(from)
	if problems := jsonl.Problems(nil); errors.As(err, &problems) {
		return nil, &told{err, fmt.Sprintf("%s can't be read as tasks, nothing was created:", name), strings.Split(problems.Error(), "\n")}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &batch{name, found}, nil
}

func (b *batch) tasks() []*taskpoolv1.NewTask {
	tasks := make([]*taskpoolv1.NewTask, len(b.drafts))
	for i, d := range b.drafts {
		tasks[i] = d.Task
	}
	return tasks
}

// taskAt finds where the server speaks of a task of the request, or of a field of
// one.
var taskAt = regexp.MustCompile(`\btasks\[(\d+)\](\.?)`)

// refused tells of a refusal in terms of the file: lines and refs in place of
// positions in the request.
func (b *batch) refused(err error) error {
	details := client.Details(err)
	if details.Reason == "" {
		return err
	}
	details.Message = b.inFile(details.Message)
	for i, v := range details.Violations {
		details.Violations[i] = client.Violation{Field: b.inFile(v.Field), Description: b.inFile(v.Description)}
	}
	sentence, more := withDetails(details.Message, details)
	if at := b.lines(details.Path); at != "" {
		more = append(more, at)
	}
	return &told{err, sentence, append(more, "nothing was created")}
}

// inFile puts the place in the file for tasks[17].
func (b *batch) inFile(text string) string {
	return taskAt.ReplaceAllStringFunc(text, func(found string) string {
		parts := taskAt.FindStringSubmatch(found)
		i, err := strconv.Atoi(parts[1])
		switch {
		case err != nil || i >= len(b.drafts):
			return found
		case parts[2] != "":
			return b.place(i) + ": "
		}
		return b.place(i)
	})
}

// place is where the task at an index of the request stands.
func (b *batch) place(i int) string {
	d := b.drafts[i]
	if ref := d.Task.GetRef(); ref != "" {
		return fmt.Sprintf("line %d (%s)", d.Line, ref)
	}
	return fmt.Sprintf("line %d", d.Line)
}

// index is which task of the file an element of a path is, -1 for none.
func (b *batch) index(element string) int {
	ref, ok := strings.CutPrefix(element, "ref:")
	if !ok {
		return -1
	}
	return slices.IndexFunc(b.drafts, func(d drafts.Draft) bool { return d.Task.GetRef() == ref })
}

// lines tells where the tasks of a cycle stand in the file.
func (b *batch) lines(path []string) string {
	var places []string
	for _, element := range path {
		if i := b.index(element); i >= 0 && !slices.Contains(places, b.place(i)) {
			places = append(places, b.place(i))
		}
	}
	if len(places) == 0 {
		return ""
	}
	return "in " + b.name + ": " + strings.Join(places, ", ")
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/jsonl"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) poolImport() *cobra.Command {
	var (
		restore   bool
		requestID string
	)
	cmd := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Take in what export wrote, from a file or standard input",
		Long: `Take in what export wrote, from FILE or standard input, into the pool that --pool
names. Nothing changes before all of it was read.

Tasks that the pool doesn't have are added; those it has with the same content
stay as they are; others are refused, each in a line, and stay as they are.
Importing the same twice changes nothing.

With --restore, an empty pool becomes what was exported, keys and threads
included, or nothing happens at all. Operators only.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return nil
			}
			return noArgs(cmd, args[1:])
		},
	}
	cmd.RunE = a.streaming(func(ctx context.Context, quiet silence, c *client.Client, args []string) error {
		name := "-"
		if len(args) > 0 {
			name = args[0]
		}
		from, done, err := a.open(name)
		if err != nil {
			return err
		}
		defer done()
		i := &importing{app: a, silence: quiet, first: &taskpoolv1.ImportPoolRequest{RequestId: requestID}, name: name}
		if name == "-" {
			i.name = "standard input"
		}
		if restore {
			i.first.Mode = taskpoolv1.ImportMode_IMPORT_MODE_RESTORE
			if requestID == "" {
				i.first.RequestId = uuid.NewString()
			}
		}
		return i.run(ctx, c, from)
	})
	cmd.Flags().BoolVar(&restore, "restore", false, "make an empty pool what was exported (operators)")
	requestIDFlag(cmd, &requestID)
	return cmd
}

// importing is one import on its way to the server.
type importing struct {
	silence
	app *app
	// first is the next message until it is sent; then there are others.
	first *taskpoolv1.ImportPoolRequest
	// name is where the records come from, lines where each stands there.
	name  string
	lines []int
	// closed: all was sent, so that it may happen.
	closed bool
}

// Bounds of a message, as the server has them for an export. maxRecordBytes is
// what it takes of one record, as MaxMessageBytes leaves room for it.
const (
	maxImportRecords = 256
	maxImportBytes   = 1 << 20
	maxRecordBytes   = client.MaxMessageBytes - 1<<10
)

func (i *importing) run(ctx context.Context, c *client.Client, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.Pools().ImportPool(ctx)
	if err != nil {
		return err
	}
	requestID, restore := i.first.GetRequestId(), i.first.GetMode() == taskpoolv1.ImportMode_IMPORT_MODE_RESTORE
	answer, err := i.send(stream, jsonl.NewLines(from))
	if problems := jsonl.Problems(nil); errors.As(err, &problems) {
		return &told{err, i.name + " can't be read as what export writes, nothing was changed:", strings.Split(problems.Error(), "\n")}
	}
	if err == nil {
		return i.tell(answer, restore)
	}
	if i.closed && i.app.unknownOutcome(err) {
		sentence, more := explain(i.app.unanswered(err))
		again := "it may have happened all the same: repeat it; what is there by then stays as it is"
		if requestID != "" {
			again = "it may have happened all the same: repeat it with --request-id " + requestID + ", and it happens once"
		}
		return &told{err, sentence, append(more, again)}
	}
	return i.refused(err)
}

// send sends the records of a file. The error says what is wrong with the file,
// or is the server's.
func (i *importing) send(stream grpc.ClientStreamingClient[taskpoolv1.ImportPoolRequest, taskpoolv1.ImportPoolResponse], lines *jsonl.Lines) (*taskpoolv1.ImportPoolResponse, error) {
	var problems jsonl.Problems
	message, size := i.first, 0
	flush := func() error {
		err := i.wait(func() error { return stream.Send(message) })
		message, size = &taskpoolv1.ImportPoolRequest{}, 0
		return err
	}
	for len(problems) < 5*jsonl.Shown {
		line, text, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.name, err)
		}
		record := &taskpoolv1.PoolRecord{}
		if err := jsonl.Decode(text, record, "record", `{"task": {…}}`); err != nil {
			problems = append(problems, jsonl.Problem{Line: line, Text: err.Error()})
		}
		n := proto.Size(record)
		if n > maxRecordBytes {
			problems = append(problems, jsonl.Problem{Line: line, Text: fmt.Sprintf("is %d bytes, and a message takes %d: no pool has such a task; take the line out", n, maxRecordBytes)})
		}
		if len(problems) > 0 {
			continue // nothing is sent any more, but all that is wrong is told
		}
		if len(message.Records) == maxImportRecords || len(message.Records) > 0 && size+n > maxImportBytes {
			if err := flush(); err != nil {
				return i.answer(stream, err)
			}
		}
		message.Records = append(message.Records, record)
		i.lines = append(i.lines, line)
		size += n + 6 // tag and length
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if len(i.lines) == 0 {
		return nil, fmt.Errorf("there is no record in %s; \"taskpool pool export\" writes them", i.name)
	}
	if err := flush(); err != nil {
		return i.answer(stream, err)
	}
	i.closed = true
	return i.answer(stream, nil)
}

// answer is the server's, also to a stream that it ended before.
func (i *importing) answer(stream grpc.ClientStreamingClient[taskpoolv1.ImportPoolRequest, taskpoolv1.ImportPoolResponse], sent error) (*taskpoolv1.ImportPoolResponse, error) {
	if sent != nil && !errors.Is(sent, io.EOF) {
		return nil, sent
	}
	var answer *taskpoolv1.ImportPoolResponse
	err := i.wait(func() (err error) { answer, err = stream.CloseAndRecv(); return err })
	if err == nil && sent != nil {
		return nil, errors.New("the server answered before all was sent")
	}
	return answer, err
}

// tell says what became of it.
func (i *importing) tell(answer *taskpoolv1.ImportPoolResponse, restore bool) error {
	a := i.app
	var err error
	switch {
	case a.global.json:
		err = a.printJSON(answer)
	case restore:
		err = a.printf("%s %s\n", happened("restored", answer.GetReplayed()), counted(int(answer.GetCreated()), "task"))
	default:
		err = a.printf("%s %d, unchanged %d, refused %d\n", happened("created", answer.GetReplayed()), answer.GetCreated(), answer.GetUnchanged(), answer.GetRefusedCount())
	}
	if err != nil || answer.GetRefusedCount() == 0 {
		return err
	}
	var more []string
	for _, r := range answer.GetRefused() {
		place, message := i.place(int(r.GetIndex())), i.inFile(r.GetMessage())
		if !strings.HasPrefix(message, place) {
			message = place + ": " + message
		}
		more = append(more, message)
	}
	if n := int(answer.GetRefusedCount()) - len(more); n > 0 {
		more = append(more, fmt.Sprintf("and %d more", n))
	}
	were := " were refused:"
	if answer.GetRefusedCount() == 1 {
		were = " was refused:"
	}
	return &told{errRefused, counted(int(answer.GetRefusedCount()), "task") + were, more}
}

var errRefused = errors.New("tasks were refused")

// recordAt finds where the server speaks of a record, or of a field of one.
var recordAt = regexp.MustCompile(`\brecords\[(\d+)\](\.?)`)

// nothingChanged is what some of the server's sentences say themselves.
const nothingChanged = "nothing was changed"

// refused tells of a refusal in terms of the file.
func (i *importing) refused(err error) error {
	details := client.Details(err)
	if details.Reason == "" {
		return err
	}
	details.Message = i.inFile(details.Message)
	for k, v := range details.Violations {
		details.Violations[k] = client.Violation{Field: i.inFile(v.Field), Description: i.inFile(v.Description)}
	}
	sentence, more := withDetails(details.Message, details)
	if !strings.Contains(sentence, nothingChanged) {
		more = append(more, nothingChanged)
	}
	return &told{err, sentence, more}
}

// inFile puts the line of the file for records[17].
func (i *importing) inFile(text string) string {
	return recordAt.ReplaceAllStringFunc(text, func(found string) string {
		parts := recordAt.FindStringSubmatch(found)
		index, err := strconv.Atoi(parts[1])
		switch {
		case err != nil || index >= len(i.lines):
			return found
		case parts[2] != "":
			return i.place(index) + ": "
		}
		return i.place(index)
	})
}

// place is where a record stands in the file.
func (i *importing) place(index int) string {
	if index < 0 || index >= len(i.lines) {
		return fmt.Sprintf("records[%d]", index)
	}
	return fmt.Sprintf("line %d", i.lines[index])
}

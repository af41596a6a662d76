package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Print what becomes ready, through restarts of the server and of this program:
// the cursor is kept with what was done.
func ExampleFollow() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := client.Dial("127.0.0.1:7420", client.WithActor("agent:scout"))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	cursor, _ := os.ReadFile("cursor") // none: begin with what is there
	for change, err := range client.Follow(ctx, c, client.FollowOptions{
		Filter: &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{taskpoolv1.TaskStatus_TASK_STATUS_READY}},
		After:  string(cursor),
		OnRetry: func(err error, wait time.Duration) {
			log.Printf("not following: %v; again in %v", err, wait)
		},
	}) {
		if err != nil {
			log.Print(err) // it is over: the context's, or one that repeating can't mend
			return
		}
		for _, t := range change.Tasks {
			if t.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED {
				fmt.Println(t.GetTask().GetKey(), t.GetTask().GetTitle())
			}
		}
		if err := os.WriteFile("cursor", []byte(change.Cursor), 0o600); err != nil {
			log.Print(err)
			return // the next start takes up after the last cursor that was kept
		}
	}
}

// Have the tasks at hand, and read one's own writes.
func ExampleMirror() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, err := client.Dial("127.0.0.1:7420")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close() }()

	mirror := client.NewMirror(c, client.FollowOptions{})
	ended := make(chan error, 1)
	go func() { ended <- mirror.Run(ctx) }()

	created, err := c.Create(ctx, &taskpoolv1.NewTask{Title: "Write the reader"})
	if err != nil {
		log.Print(err)
		return
	}
	if err := mirror.WaitFor(ctx, created.GetRevision()); err != nil {
		log.Print(err)
		return
	}
	for task := range mirror.All() {
		fmt.Println(task.GetKey(), task.GetTitle())
	}
	if time.Since(mirror.LastHeard()) > time.Minute {
		fmt.Println("this may be old")
	}

	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		log.Print(err)
	}
}

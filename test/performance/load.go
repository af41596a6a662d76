package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

const maxMessage = 16 << 20

// connect opens connections to a server.
func connect(addr string, n int, options ...grpc.DialOption) ([]*grpc.ClientConn, error) {
	conns := make([]*grpc.ClientConn, n)
	for i := range conns {
		c, err := grpc.NewClient(addr, append([]grpc.DialOption{
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		}, options...)...)
		if err != nil {
			return nil, err
		}
		conns[i] = c
	}
	return conns, nil
}

func closeAll(conns []*grpc.ClientConn) {
	for _, c := range conns {
		_ = c.Close()
	}
}

// call is one call of a load; n is its number.
type call func(ctx context.Context, c taskpoolv1.TaskServiceClient, n int64) error

// load is callers that call without pause.
type load struct {
	server         *process
	callers, conns int
	call           call
	n              atomic.Int64
	open           []*grpc.ClientConn
}

// sample is what one turn gave.
type sample struct {
	perSecond float64
	p50, p99  time.Duration
	// cpu is the server's, for each call.
	cpu time.Duration
}

// as is a context in which calls are made by an agent.
func as(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "taskpool-actor", "agent:bench")
}

func asOperator(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "taskpool-actor", "human")
}

// measure calls for so long, after a tenth of that to get going.
func (l *load) measure(ctx context.Context, long time.Duration) (sample, error) {
	if l.open == nil {
		conns, err := connect(l.server.grpc, l.conns)
		if err != nil {
			return sample{}, err
		}
		l.open = conns
	}
	ctx, cancel := context.WithCancel(as(ctx))
	defer cancel()
	var (
		wg        sync.WaitGroup
		mu        sync.Mutex
		took      []time.Duration
		failed    error
		measuring atomic.Bool
		over      atomic.Bool
	)
	for i := range l.callers {
		c := taskpoolv1.NewTaskServiceClient(l.open[i%len(l.open)])
		wg.Go(func() {
			var own []time.Duration
			for !over.Load() {
				start := time.Now()
				if err := l.call(ctx, c, l.n.Add(1)); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					over.Store(true)
					return
				}
				if measuring.Load() {
					own = append(own, time.Since(start))
				}
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	pause(ctx, long/10)
	before, start := l.server.cpu(), time.Now()
	measuring.Store(true)
	pause(ctx, long)
	measuring.Store(false)
	elapsed, used := time.Since(start), l.server.cpu()-before
	over.Store(true)
	wg.Wait()
	if failed != nil {
		return sample{}, failed
	}
	if len(took) == 0 {
		return sample{}, fmt.Errorf("no call ended within %s", long)
	}
	slices.Sort(took)
	n := len(took)
	return sample{
		perSecond: float64(n) / elapsed.Seconds(), cpu: used / time.Duration(n),
		p50: took[n/2], p99: took[n*99/100],
	}, nil
}

// The calls.

func createCall(ctx context.Context, c taskpoolv1.TaskServiceClient, n int64) error {
	_, err := c.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: draft(int(n % 1000))})
	return err
}

// createLarge asks the empty server for an answer as long as the product's.
func createLarge(ctx context.Context, c taskpoolv1.TaskServiceClient, n int64) error {
	_, err := c.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{RequestId: "large", Task: draft(int(n % 1000))})
	return err
}

func readCall(id string) call {
	return func(ctx context.Context, c taskpoolv1.TaskServiceClient, _ int64) error {
		_, err := c.ReadTask(ctx, &taskpoolv1.ReadTaskRequest{Id: &id})
		return err
	}
}

package client

import (
	"fmt"

	"google.golang.org/grpc"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// MaxMessageBytes is how big one message may be, either way.
const MaxMessageBytes = 16 << 20

// Client is a connection to a server with defaults for every call. It is safe
// for concurrent use.
type Client struct {
	calls *calls
	close func() error
}

// Dial makes a client of the server at target: "host:port", "unix:PATH" or any
// target that gRPC knows. It connects on the first call, so that a server that
// is not there yet is no error here.
//
// A target on this machine is spoken to in plain text, any other with TLS and
// the system's certificates; WithTransportCredentials says otherwise.
func Dial(target string, opts ...Option) (*Client, error) {
	o := newOptions(opts)
	if o.token != "" && o.transport != nil && o.transport.Info().SecurityProtocol == "insecure" && !isLocal(target) {
		return nil, fmt.Errorf("taskpool server %q: the token would be sent in plain text to another machine; use TLS, or no token", target)
	}
	connection, err := grpc.NewClient(target, o.dialOptions(target)...)
	if err != nil {
		return nil, fmt.Errorf("taskpool server %q: %w", target, err)
	}
	return &Client{calls: o.calls(connection), close: connection.Close}, nil
}

// New makes a client over a connection that the caller made and closes, such as
// one to a server in the same process. Of the options, those about the
// connection itself have no effect.
func New(connection grpc.ClientConnInterface, opts ...Option) *Client {
	return &Client{calls: newOptions(opts).calls(connection), close: func() error { return nil }}
}

// Close ends the connection; calls that still run fail. A connection that was
// given to New stays open.
func (c *Client) Close() error { return c.close() }

// Connection is what the services below call through, defaults included: for
// services that are not listed here.
func (c *Client) Connection() grpc.ClientConnInterface { return c.calls }

// Tasks is the service of tasks and their feed.
func (c *Client) Tasks() taskpoolv1.TaskServiceClient {
	return taskpoolv1.NewTaskServiceClient(c.calls)
}

// Pools is the service of pools.
func (c *Client) Pools() taskpoolv1.PoolServiceClient {
	return taskpoolv1.NewPoolServiceClient(c.calls)
}

// Graphs is the service of plans.
func (c *Client) Graphs() taskpoolv1.GraphServiceClient {
	return taskpoolv1.NewGraphServiceClient(c.calls)
}

// Auth is the service of credentials.
func (c *Client) Auth() taskpoolv1.AuthServiceClient {
	return taskpoolv1.NewAuthServiceClient(c.calls)
}

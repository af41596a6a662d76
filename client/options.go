package client

import (
	"crypto/tls"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// Keepalive: often enough to notice a dead connection within a minute, seldom
// enough for servers, which end a connection that pings more often than every
// 30 seconds or without a call.
const (
	keepaliveTime    = 45 * time.Second
	keepaliveTimeout = 15 * time.Second
)

// Option changes how a client is made.
type Option func(*options)

type options struct {
	pool, actor, token string
	transport          credentials.TransportCredentials
	dial               []grpc.DialOption
}

// WithPool sets the pool of requests that name none; without it they go to
// "default".
func WithPool(name string) Option { return func(o *options) { o.pool = name } }

// WithActor says in whose name calls are made: "agent:NAME", "ext:NAME" or
// "human". A server with authentication goes by the credential instead.
func WithActor(member string) Option { return func(o *options) { o.actor = member } }

// WithToken sends the token with every call. It is never sent in plain text to
// another machine: Dial refuses that.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// WithTransportCredentials sets how the connection is secured, in place of plain
// text on this machine and TLS with the system's certificates beyond it.
func WithTransportCredentials(c credentials.TransportCredentials) Option {
	return func(o *options) { o.transport = c }
}

// WithDialOptions adds gRPC's own options after the client's.
func WithDialOptions(dial ...grpc.DialOption) Option {
	return func(o *options) { o.dial = append(o.dial, dial...) }
}

func newOptions(opts []Option) *options {
	o := &options{}
	for _, set := range opts {
		set(o)
	}
	return o
}

func (o *options) calls(connection grpc.ClientConnInterface) *calls {
	return &calls{connection: connection, pool: o.pool, actor: o.actor}
}

func (o *options) dialOptions(target string) []grpc.DialOption {
	local := isLocal(target)
	transport := o.transport
	switch {
	case transport != nil:
	case local:
		transport = insecure.NewCredentials()
	default:
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultServiceConfig(serviceConfig()),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(MaxMessageBytes),
			grpc.MaxCallSendMsgSize(MaxMessageBytes),
			// A call can be repeated while its request fits here; by default a
			// batch of tasks would not.
			grpc.MaxRetryRPCBufferSize(2*MaxMessageBytes),
		),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
	}
	if o.token != "" {
		dial = append(dial, grpc.WithPerRPCCredentials(bearer{token: o.token, local: local}))
	}
	return append(dial, o.dial...)
}

// isLocal tells whether the target can only be on this machine. What it can't
// read is not.
func isLocal(target string) bool {
	for _, scheme := range []string{"unix:", "unix-abstract:"} {
		if strings.HasPrefix(target, scheme) {
			return true
		}
	}
	for _, scheme := range []string{"dns:", "passthrough:", "ipv4:", "ipv6:"} {
		if rest, ok := strings.CutPrefix(target, scheme); ok {
			target = rest[strings.LastIndexByte(rest, '/')+1:]
			break
		}
	}
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		host = strings.Trim(target, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

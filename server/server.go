package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/test/bufconn"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// Server serves the pools of a registry. Use each once: it can't be started
// again after Drain.
type Server struct {
	cfg      Config
	registry *pool.Registry
	grpc     *grpc.Server
	http     *http.Server
	health   *health.Server
	metrics  *metrics
	trace    tracing

	// draining ends when no new call is taken any more; streams end with it.
	draining      context.Context
	startDraining context.CancelFunc
	// stopped is closed when nothing of the server runs any more.
	stopped chan struct{}
	// importing is how many bytes imports under way hold.
	importing atomic.Int64
	// work is the goroutines that New did not start.
	work sync.WaitGroup

	mu sync.Mutex
	// started: the health watch runs. Guarded by mu.
	started bool
	// drained: Drain was called. Guarded by mu.
	drained bool
	// local is where Local dials; nil until it is first called. Guarded by mu.
	local *bufconn.Listener
}

// New makes a server of a registry, which it neither opens nor closes: close it
// after Serve or Drain returned. Every server has to be drained, which Serve
// does at its end.
func New(registry *pool.Registry, cfg Config) (*Server, error) {
	s := &Server{
		cfg: cfg.withDefaults(), registry: registry, health: health.NewServer(),
		stopped: make(chan struct{}),
	}
	s.draining, s.startDraining = context.WithCancel(context.Background())
	s.metrics = newMetrics(s)
	options := s.options()
	if s.cfg.Tracing {
		trace, err := newTracing(s.cfg)
		if err != nil {
			return nil, err
		}
		s.trace = trace
		options = append(options, grpc.StatsHandler(trace.handler))
	}
	s.grpc = grpc.NewServer(options...)
	s.register()
	s.metrics.prepare(s.grpc)
	s.http = newHTTP(s)
	s.checkHealth()
	return s, nil
}

func (s *Server) options() []grpc.ServerOption {
	return append(
		s.chain(),
		grpc.MaxRecvMsgSize(MaxMessageBytes),
		grpc.MaxSendMsgSize(MaxMessageBytes),
		grpc.MaxConcurrentStreams(s.cfg.MaxConcurrentStreams),
		grpc.NumStreamWorkers(streamWorkers()),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.WaitForHandlers(true),
		grpc.ForceServerCodecV2(codec()),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: time.Minute, Timeout: 20 * time.Second, // a peer that is gone is noticed
			MaxConnectionAge: s.cfg.MaxConnectionAge, MaxConnectionAgeGrace: s.cfg.MaxConnectionAgeGrace,
		}),
	)
}

// services are those of the API.
var services = []*grpc.ServiceDesc{
	&taskpoolv1.TaskService_ServiceDesc,
	&taskpoolv1.PoolService_ServiceDesc,
	&taskpoolv1.GraphService_ServiceDesc,
	&taskpoolv1.AuthService_ServiceDesc,
}

func (s *Server) register() {
	handlers := []any{&taskService{server: s}, &poolService{server: s}, graphService{}, authService{}}
	for i, desc := range services {
		s.grpc.RegisterService(readable(desc), handlers[i])
	}
	healthv1.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc) // v1 and v1alpha
}

// readable is a service whose methods say what is wrong with a request that
// can't be decoded, instead of INTERNAL.
func readable(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	copied := *desc
	copied.Methods = slices.Clone(desc.Methods)
	for i, m := range copied.Methods {
		copied.Methods[i].Handler = decoding(m.Handler)
	}
	return &copied
}

package server

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// metrics are what /metrics tells. Counters are made once per method and code,
// so a call costs no look-up by label.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	panics   prometheus.Counter
	streams  prometheus.Gauge

	watchChanges prometheus.Counter
	watchBytes   prometheus.Counter
	watchEnds    *prometheus.CounterVec
	// calls counts those that are not logged by themselves.
	calls atomic.Uint64
	// methods is by full name; written by prepare alone, before any call.
	methods map[string]*methodMetrics
}

// methodMetrics are those of one method.
type methodMetrics struct {
	byCode [codes.Unauthenticated + 1]atomic.Pointer[prometheus.Counter]
	// latency is nil for streams, which last as long as their callers like.
	latency prometheus.Observer
	name    string
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taskpool_grpc_calls_total", Help: "Calls answered, by method and code.",
		}, []string{"method", "code"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "taskpool_grpc_call_seconds", Help: "How long unary calls took, by method.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"method"}),
		panics:  prometheus.NewCounter(prometheus.CounterOpts{Name: "taskpool_panics_total", Help: "Panics in handlers: each is a fault, and is in the log."}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "taskpool_grpc_streams", Help: "Streams that are open now."}),
		methods: map[string]*methodMetrics{},

		watchChanges: prometheus.NewCounter(prometheus.CounterOpts{Name: "taskpool_watch_changes_total", Help: "Changes sent to watches."}),
		watchBytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "taskpool_watch_bytes_total", Help: "Bytes of the messages sent to watches."}),
		watchEnds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taskpool_watches_ended_total", Help: "Watches that ended, by reason; CALLER_LEFT: their callers wanted no more.",
		}, []string{"reason"}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "taskpool_build_info", Help: "Always 1; the label tells the version.", ConstLabels: prometheus.Labels{"version": s.cfg.Version},
	})
	info.Set(1)
	m.registry.MustRegister(
		m.requests, m.latency, m.panics, m.streams, info,
		m.watchChanges, m.watchBytes, m.watchEnds,
		gauge("taskpool_store_healthy", "1 while the store takes changes, else 0.", func() float64 { return oneIf(s.registry.Health() == nil) }),
		gauge("taskpool_draining", "1 once the server is stopping.", func() float64 { return oneIf(s.isDraining()) }),
		gauge("taskpool_watches", "Watches that are open now.", func() float64 { return float64(s.registry.Watchers()) }),
		gauge("taskpool_open_pools", "Pools that are open now.", func() float64 { return float64(s.registry.OpenPools()) }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func gauge(name, help string, value func() float64) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// prepare makes the metrics of every method that is served.
func (m *metrics) prepare(s *grpc.Server) {
	for service, info := range s.GetServiceInfo() {
		for _, method := range info.Methods {
			name := strings.TrimPrefix(service, "taskpool.v1.") + "/" + method.Name
			of := &methodMetrics{name: name}
			if !method.IsClientStream && !method.IsServerStream {
				of.latency = m.latency.WithLabelValues(name)
			}
			m.methods["/"+service+"/"+method.Name] = of
		}
	}
}

// answered counts one call.
func (m *metrics) answered(fullMethod string, code codes.Code, took time.Duration) {
	of := m.methods[fullMethod]
	if of == nil || int(code) >= len(of.byCode) {
		return
	}
	counter := of.byCode[code].Load()
	if counter == nil {
		made := m.requests.WithLabelValues(of.name, code.String())
		counter = &made
		of.byCode[code].Store(counter)
	}
	(*counter).Inc()
	if of.latency != nil {
		of.latency.Observe(took.Seconds())
	}
}

// watchEnded counts a watch that came to its end with an error.
func (m *metrics) watchEnded(err error) {
	reason := "INTERNAL"
	a := answerTo(err)
	switch {
	case a.code == codes.Canceled || a.code == codes.DeadlineExceeded:
		reason = "CALLER_LEFT"
	case a.reason != "":
		reason = string(a.reason)
	}
	m.watchEnds.WithLabelValues(reason).Inc()
}

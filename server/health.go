package server

import (
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// healthEvery is how often the store's health is looked at.
const healthEvery = time.Second

// checkHealth sets what the health service says of the server as a whole ("")
// and of each service of the API. Health ignores it once the server drains.
func (s *Server) checkHealth() {
	state := healthv1.HealthCheckResponse_SERVING
	if s.registry.Health() != nil {
		state = healthv1.HealthCheckResponse_NOT_SERVING
	}
	s.health.SetServingStatus("", state)
	for _, desc := range services {
		s.health.SetServingStatus(desc.ServiceName, state)
	}
}

// watchHealth follows the store's health until the server drains.
func (s *Server) watchHealth() {
	ticker := time.NewTicker(healthEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.checkHealth()
		case <-s.draining.Done():
			return
		}
	}
}

// ready is nil while calls are served, else why they are not.
func (s *Server) ready() error {
	if s.isDraining() {
		return errDraining
	}
	return s.registry.Health()
}

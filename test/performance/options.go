package main

import "google.golang.org/grpc"

// sameOptions are those of the product's server that concern speed.
func sameOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.NumStreamWorkers(512)}
}

package main

import (
	"runtime/debug"

	"google.golang.org/grpc"
)

// sameOptions are those of `taskpool serve` that concern speed: of the server, and
// of the process.
func sameOptions() []grpc.ServerOption {
	debug.SetGCPercent(400)
	return []grpc.ServerOption{grpc.NumStreamWorkers(256)}
}

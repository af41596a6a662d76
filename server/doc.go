// Package server puts pools on the wire: one thin method per RPC, the one table
// from the pool's errors to codes, and what a process around it needs: limits,
// metrics, health, drain.
//
// [New] starts nothing. [Server.Serve] serves listeners until its context ends
// and drains then; [Server.Local] gives a connection in process, through the
// same interceptors. Callers say who they are by the metadata key
// "taskpool-actor", and are believed.
package server

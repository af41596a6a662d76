// Package client talks to a taskpool server.
//
// Dial gives a Client whose Tasks, Pools, Graphs and Auth are the generated
// services, with four things added to every call:
//
//   - requests that name no pool go to the pool given by WithPool;
//   - mutations without a request_id get a random one, so that repeating them
//     is safe;
//   - calls that met UNAVAILABLE are repeated a few times, where a request_id
//     makes that safe or the call only reads;
//   - the actor (WithActor) and the token (WithToken) travel along.
//
// The message that the caller passes is never changed.
//
// A mutation whose answer is lost for another reason (a deadline, a crash of
// the caller) can be repeated safely only under the same request_id: choose
// your own where that may happen.
//
// Follow yields what happens in a pool, revision by revision, and resumes by
// itself; Mirror keeps a copy of the tasks up to date by it.
//
// Errors are told apart by reason, never by text: IsHeld, IsNotFound, IsRule
// and so on, Reason for the name, Details for what programs need to go on.
package client

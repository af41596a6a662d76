// Package taskpb maps tasks, events, limits and requests to protobuf and back.
// It is the only place that does, and knows neither pools nor transports.
//
// Toward the store and the feed there is [Codec]; toward callers there are
// views ([Task], [Detail], [Event]); from callers come [Draft] and [Patch].
// The message of a task in the feed's default view is that of [Codec], byte for
// byte: FULL, without history, attempts, dependent_ids and hold_expires_at.
package taskpb

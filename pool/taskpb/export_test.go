package taskpb

import "github.com/taskpool-dev/taskpool/pool/task"

// The quick ways, for tests.
var (
	ScanTask  = scanTask
	ScanEvent = scanEvent
)

// EncodeBy and DecodeBy are the codec by way of the generated messages.
var (
	EncodeBy = func(t *task.Task) ([]byte, error) { return deterministic.Marshal(full(t)) }
	DecodeBy = decodeMessage

	EncodeEventBy = encodeEventMessage
	DecodeEventBy = decodeEventMessage
)

package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"a task":          {`{"task":{"id":"x","key":"T-1","status":"TASK_STATUS_DONE"},"assigned_by_claim":true}`, ""},
		"by other names":  {`{"event":{"taskId":"x","assigned":{"to":"agent:a"}}}`, ""},
		"unknown":         {`{"taks":{}}`, `there is no field "taks" (did you mean "task"?)`},
		"unknown, below":  {`{"task":{"history":[{"at":"2026-01-02T03:04:05Z"},{"txt":"x"}]}}`, `there is no field "task.history[1].txt" (did you mean "text"?)`},
		"two kinds":       {`{"task":{},"event":{}}`, "is no record: error parsing"},
		"no object":       {`[]`, "is no record: a record is a JSON object, {…}"},
		"nothing":         {``, "is no record: a record is a JSON object, {…}"},
		"half":            {`{"task":`, "is no record: unexpected EOF"},
		"unknown word":    {`{"task":{"status":"DONE"}}`, "is no record: invalid value for enum field status"},
		"no instant":      {`{"task":{"created_at":"yesterday"}}`, "is no record: invalid google.protobuf.Timestamp value"},
		"more behind":     {`{"task":{}} x`, "is no record: "},
		"number too high": {`{"event":{"id":"99999999999999999999"}}`, "is no record: invalid value for int64 field id"},
	} {
		m := &taskpoolv1.PoolRecord{}
		err := Decode([]byte(c.text), m, "record", "{…}")
		switch {
		case c.wrong == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), c.wrong)):
			t.Errorf("%s: got %v, want %s", name, err, c.wrong)
		}
	}
}

// What can be read is what can be written, and nothing of it is lost on the way.
func FuzzDecodeRecord(f *testing.F) {
	for _, seed := range []string{
		`{"pool":{"name":"web","limits":{"title_length":"100"}},"extent":{"tasks":"1"}}`,
		`{"task":{"id":"5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11","key":"T-1","labels":{"a":"b"},"created_at":"2026-01-02T03:04:05.000000006Z"}}`,
		`{"event":{"id":"1","kind":"TASK_EVENT_KIND_STATUS","status":{"from":1,"to":"TASK_STATUS_READY"}}}`,
		`{"task":null}`, `{"Task":{}}`, `{"task":{"é":1}}`, `{`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := &taskpoolv1.PoolRecord{}
		if Decode(text, m, "record", "{…}") != nil {
			return
		}
		b, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, b); err != nil {
			t.Fatal(err)
		}
		again := &taskpoolv1.PoolRecord{}
		if err := Decode(line.Bytes(), again, "record", "{…}"); err != nil || !proto.Equal(m, again) {
			t.Fatalf("%s is read again as %v, %v", line.Bytes(), again, err)
		}
	})
}

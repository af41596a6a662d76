package taskfile_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// FuzzRead reads any bytes: it never panics, tells what is wrong in good text,
// and what it takes is written and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add(golden(f))
	f.Add([]byte(`{"tasks":[{"id":"` + parser + `","title":"t","status":"pending","history":"[2026-01-02T03:04:05Z] a\\n\n[x] b\\\\","dependencyIds":["` + runner + `"]}]}`))
	f.Add([]byte(`{"tasks":[{"id":1,"id":2,"x":{}},[],null],"y":[{}]}`))
	f.Add([]byte("\ufeff{\"tasks\":\r[\r\n]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, wrong, cycle := taskfile.Read(data, task.DefaultLimits())
		if wrong != nil {
			if cycle != nil && cycle[0] != cycle[len(cycle)-1] {
				t.Fatalf("the cycle %v is none", cycle)
			}
			if len(wrong) > 101 || !utf8.ValidString(wrong.Error()) {
				t.Fatalf("%d problems: %q", len(wrong), wrong.Error())
			}
			return
		}
		file.Pruned = nil
		for _, r := range file.Records {
			for i := range r.History {
				if e := &r.History[i]; e.At.IsZero() {
					e.At = time.UnixMilli(0).UTC()
				} else {
					e.At = e.At.Truncate(time.Millisecond) // which is what is written
				}
			}
		}
		written := write(t, file)
		again := read(t, written)
		if !reflect.DeepEqual(again, file) {
			t.Fatalf("%s came back as something else", written)
		}
		if twice := write(t, again); !bytes.Equal(written, twice) {
			t.Fatalf("%s was written again as %s", written, twice)
		}
	})
}

package pool

import (
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// A task that changes between the comparison beside the writer and the writer's
// turn is compared with what it is then.
func TestImported_meetsTheNewestVersion(t *testing.T) {
	at := func(title string) *node {
		return &node{task: &task.Task{Number: 7, Title: title}}
	}
	in := &imported{task: &task.Task{Title: "one"}}
	same, other := at("one"), at("two")
	in.meet(same)
	if in.differs != "" {
		t.Errorf("of the same: %s", in.differs)
	}
	in.meet(other)
	if !strings.HasPrefix(in.differs, "T-7 differs here in title;") {
		t.Errorf("of another: %q", in.differs)
	}
	in.meet(at("one"))
	if in.differs != "" {
		t.Errorf("of the same again: %s", in.differs)
	}
}

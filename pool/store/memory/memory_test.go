package memory_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuite(t *testing.T) {
	storetest.Run(t, func(testing.TB) storetest.Harness {
		return storetest.Harness{New: func(testing.TB) store.Store { return memory.New() }}
	})
}

func TestShared(t *testing.T) {
	if !memory.New().Shared() {
		t.Error("several pools may use one memory store")
	}
}

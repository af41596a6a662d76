package client

import (
	"encoding/json"
	"testing"
)

func TestOnlySafeCallsAreRepeated(t *testing.T) {
	var config map[string][]methodConfig
	if err := json.Unmarshal([]byte(serviceConfig()), &config); err != nil {
		t.Fatal(err)
	}
	repeated := map[string]bool{}
	for _, name := range config["methodConfig"][0].Name {
		repeated[name.Service+"/"+name.Method] = true
	}
	for name, want := range map[string]bool{
		"taskpool.v1.TaskService/ReadTask":    true,
		"taskpool.v1.TaskService/ExplainTask": true,
		"taskpool.v1.TaskService/CreateTasks": true,
		"taskpool.v1.TaskService/ClaimTask":   true,
		"taskpool.v1.TaskService/WatchTasks":  false,
		"taskpool.v1.PoolService/ClearPool":   true,
		"taskpool.v1.PoolService/ExportPool":  false,
		"taskpool.v1.PoolService/ImportPool":  false,
		"taskpool.v1.AuthService/ListTokens":  true,
	} {
		if repeated[name] != want {
			t.Errorf("%s: repeated %t, want %t", name, repeated[name], want)
		}
	}
}

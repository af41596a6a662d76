package main

import (
	"os"
	"strings"
	"testing"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("taskpool.yaml", []byte("pool: from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("other.yaml", []byte("# another\npool: from-other\nserve:\n  data: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  string
		args []string
		want string
	}{
		{"the file", "", nil, "from-file"},
		{"the file named by a flag", "", []string{"--config", "other.yaml"}, "from-other"},
		{"the environment", "from-env", []string{"--config", "other.yaml"}, "from-env"},
		{"the flag", "from-env", []string{"--pool", "from-flag"}, "from-flag"},
		{"the flag, as the default", "from-env", []string{"--pool", "default"}, "default"},
	} {
		f := newFake(t, ok())
		s := at(f)
		s.env["TASKPOOL_POOL"] = c.env
		if r := s.run(t, append([]string{"task", "read", "T-1"}, c.args...)...); r.code != exitDone {
			t.Fatalf("%s: %+v", c.name, r)
		}
		if got := last[*taskpoolv1.ReadTaskRequest](t, f).GetPool(); got != c.want {
			t.Errorf("%s: pool %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNoFileIsFine(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := at(newFake(t, ok())).run(t, "task", "read", "T-1"); r.code != exitDone {
		t.Errorf("%+v", r)
	}
}

func TestConfigurationIsCheckedByNameAndLine(t *testing.T) {
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"pool: web\nadr: x\n":                "taskpool.yaml:2: there is no key \"adr\"; there are addr, pool, actor, token_file, insecure, color, timeout, serve\n",
		"serve:\n  data: x\n  datta: y\n":    "taskpool.yaml:3: there is no key \"serve.datta\"; there are data, grpc_addr, http_addr, auth, drain_timeout, log_level, log_format, tracing\n",
		"\n\npool: a\npool: b\n":             "taskpool.yaml:4: pool is set before, at taskpool.yaml:3\n",
		"timeout: soon\n":                    "taskpool.yaml:1: timeout: ",
		"pool: [a]\n":                        "taskpool.yaml:1: pool takes one value\n",
		"- a\n":                              "taskpool.yaml:1: here are keys and values expected, such as addr: 127.0.0.1:7420\n",
		"serve: 1\n":                         "taskpool.yaml:1: here are keys and values expected, such as addr: 127.0.0.1:7420\n",
		"pool: \"a\n":                        "taskpool.yaml: ",
		"color: blue\n":                      "taskpool.yaml:1: color: \"blue\" is none of auto, always, never\n",
		"token: secret\n":                    "taskpool.yaml:1: there is no key \"token\"; ",
		"":                                   "",
		"# nothing\n":                        "",
		"serve:\n":                           "",
		"timeout: 5s\nserve: {auth: none}\n": "",
		"color: never\ninsecure: true\npool: x\n": "",
	} {
		if err := os.WriteFile("taskpool.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := at(newFake(t, ok())).run(t, "task", "read", "T-1")
		if want == "" && r.code != exitDone || want != "" && (r.code != exitUsage || !strings.HasPrefix(r.err, "taskpool: "+want)) {
			t.Errorf("%q: %d %q, want %q", text, r.code, r.err, want)
		}
	}
	if err := os.Remove("taskpool.yaml"); err != nil {
		t.Fatal(err)
	}
	s := at(newFake(t, ok()))
	s.env["TASKPOOL_TIMEOUT"] = "soon"
	if r := s.run(t, "task", "read", "T-1"); r.code != exitUsage || !strings.HasPrefix(r.err, "taskpool: TASKPOOL_TIMEOUT=soon: ") {
		t.Errorf("%+v", r)
	}
}

// Every setting is a flag of some command, so that none is without effect.
func TestSettingsAreFlags(t *testing.T) {
	a := &app{}
	root := a.root()
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	_ = serve.ParseFlags(nil) // so that it knows the flags of its parent
	for _, s := range settings {
		if serve.Flags().Lookup(s.flag) == nil {
			t.Errorf("there is no flag --%s", s.flag)
		}
	}
}

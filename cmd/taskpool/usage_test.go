package main

import (
	"strings"
	"testing"
)

// Wrong usage ends with 2 before anybody is asked, and says what is wrong in one
// line.
func TestWrongUsage(t *testing.T) {
	for args, want := range map[string]string{
		"bogus":                              `there is no command "bogus"; see taskpool --help`,
		"task":                               "which command? See taskpool task --help",
		"task bogus":                         `there is no command "bogus"; see taskpool task --help`,
		"task read":                          "the ID of a task is missing: taskpool task read ID [flags]; see taskpool task read --help",
		"task read a b":                      `"b" is one argument too many: taskpool task read ID [flags]; see taskpool task read --help`,
		"task list x":                        `"x" is one argument too many; see taskpool task list --help`,
		"task list --nope":                   "unknown flag: --nope; see taskpool task list --help",
		"task list --status redy":            `invalid argument "redy" for "--status" flag: "redy" is none of pending, ready, in_progress, review, blocked, done, cancelled, failed; see taskpool task list --help`,
		"task list --closed-since yesterday": `invalid argument "yesterday" for "--closed-since" flag: "yesterday" is no time; write 2026-01-02T15:04:05Z, or from now +90m, +1h30m, +2d; see taskpool task list --help`,
		"task list --limit -1":               "--limit -1: a limit is not negative; 0 shows all",
		"task list --label x":                `invalid argument "x" for "--label" flag: "x" is not KEY=VALUE; see taskpool task list --help`,
		"task list --label a=1 --label a=2":  `invalid argument "a=2" for "--label" flag: a has a value already: "1"; see taskpool task list --help`,
		"task list --parent T-1 --top-level": "--parent and --top-level can't be combined; see taskpool task list --help",
		"task create":                        "what is to be done? Give --title TEXT, or --from FILE",
		"task create --from x --step y":      "--from takes its tasks from a file; --step can't be combined with it",
		"task create --title x --body y --body-file z": "--body and --body-file can't be combined; see taskpool task create --help",
		"task create --title x --depends-on a,,b":      `invalid argument "a,,b" for "--depends-on" flag: "a,,b" holds an empty name; see taskpool task create --help`,
		"task update T-1":                        "what is to change? See taskpool task update --help",
		"task update T-1 --expected-version 3":   "what is to change? See taskpool task update --help",
		"task update T-1 --step= --step x":       `--step "" clears the list; it can't be combined with items`,
		"task update T-1 --priority urgent":      `invalid argument "urgent" for "--priority" flag: "urgent" is none of low, medium, high, none; see taskpool task update --help`,
		"pool clear web":                         "this removes every task of web for good; say so with --confirm web",
		"pool create web --limit title=5":        `there is no limit "title"`,
		"pool create web --limit title_length=0": "a limit is a number of at least 1",
		"task list --timeout -1s":                "--timeout -1s: a time to wait is not negative; 0 waits for ever",
		"task list --color blue":                 `invalid argument "blue" for "--color" flag: "blue" is none of auto, always, never; see taskpool task list --help`,
		"task list --config /nowhere/x.yaml":     "configuration: open /nowhere/x.yaml: no such file or directory",
		"watch x":                                `"x" is one argument too many; see taskpool watch --help`,
		"watch --now --after a":                  "--after and --now can't be combined; see taskpool watch --help",
		"watch --exclude-me --exclude-actor a":   "--exclude-actor and --exclude-me can't be combined; see taskpool watch --help",
		"watch --text a":                         "unknown flag: --text; see taskpool watch --help",
		"watch --parent T-1 --top-level":         "--parent and --top-level can't be combined; see taskpool watch --help",
		"serve --auth token":                     "--auth token is not available in this version; only none is",
		"serve --auth mtls":                      "--auth mtls is not available in this version; only none is",
		"serve --grpc-addr :7420":                "can be reached from other machines",
		"serve --http-addr 0.0.0.0:7421":         "can be reached from other machines",
		"serve --grpc-addr 7420":                 `--grpc-addr "7420" is no address; write HOST:PORT, such as 127.0.0.1:7420`,
		"serve --log-format xml":                 `--log-format "xml" is none of text, json`,
		"serve --data=":                          "--data needs a directory, or the word memory",
		"backup":                                 "the file to write, DEST, is missing: taskpool backup DEST [flags]; see taskpool backup --help",
	} {
		r := shell{env: map[string]string{"TASKPOOL_ADDR": "127.0.0.1:1"}}.run(t, strings.Fields(args)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, "taskpool: ") ||
			!strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %d %q %q, want %q", args, r.code, r.out, r.err, want)
		}
	}
}

func TestHelpTellsTheExitCodes(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"help"}} {
		r := shell{}.run(t, args...)
		if r.code != exitDone || !strings.Contains(r.out, "Exit codes:\n  0  done\n  1  refused or failed") || r.err != "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	a := &app{}
	root := a.root()
	var visit func(path ...string)
	visit = func(path ...string) {
		cmd, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Short == "" {
			t.Errorf("%s has no help", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			visit(append(append([]string(nil), path...), below.Name())...)
		}
	}
	visit()
}

func TestVersion(t *testing.T) {
	r := shell{}.run(t, "version")
	if r.code != exitDone || !strings.HasPrefix(r.out, "taskpool ") || !strings.HasSuffix(r.out, "\n") {
		t.Errorf("%+v", r)
	}
	if r = (shell{}).run(t, "version", "--json"); !strings.HasPrefix(r.out, "{\n  \"version\": ") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"task list --status re":         "ready\n",
		"task list --status done,in":    "done,in_progress\n",
		"task list --priority ":         "low\n",
		"task update T-1 --status in":   "in_progress\n",
		"pool create x --limit title":   "title_length=\n",
		"pool create x --edit-rule fil": "filer\n",
		"task list --color al":          "always\n",
		"watch --status re":             "review\n",
		"watch --view com":              "compact\n",
	} {
		words := strings.Split(args, " ")
		r := shell{env: map[string]string{"TASKPOOL_ADDR": "127.0.0.1:1"}}.run(t, append([]string{"__complete"}, words...)...)
		if r.code != exitDone || !strings.Contains(r.out, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

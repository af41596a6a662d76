package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// setting is a flag that can also be set by the environment or the
// configuration file.
type setting struct {
	flag, env, key string
}

// settings are all of them. Keys with a dot stand below another in the file.
var settings = []setting{
	{"addr", "TASKPOOL_ADDR", "addr"},
	{"pool", "TASKPOOL_POOL", "pool"},
	{"actor", "TASKPOOL_ACTOR", "actor"},
	{"token-file", "TASKPOOL_TOKEN_FILE", "token_file"},
	{"insecure", "TASKPOOL_INSECURE", "insecure"},
	{"color", "TASKPOOL_COLOR", "color"},
	{"timeout", "TASKPOOL_TIMEOUT", "timeout"},
	{"data", "TASKPOOL_DATA", "serve.data"},
	{"grpc-addr", "TASKPOOL_GRPC_ADDR", "serve.grpc_addr"},
	{"http-addr", "TASKPOOL_HTTP_ADDR", "serve.http_addr"},
	{"auth", "TASKPOOL_AUTH", "serve.auth"},
	{"drain-timeout", "TASKPOOL_DRAIN_TIMEOUT", "serve.drain_timeout"},
	{"log-level", "TASKPOOL_LOG_LEVEL", "serve.log_level"},
	{"log-format", "TASKPOOL_LOG_FORMAT", "serve.log_format"},
	{"tracing", "TASKPOOL_TRACING", "serve.tracing"},
}

// complete sets the flags that were not given from the environment, else from
// the configuration file. An empty variable counts as not set.
func (a *app) complete(flags *pflag.FlagSet) error {
	file, err := readConfig(a.global.config)
	if err != nil {
		return err
	}
	for _, s := range settings {
		flag := flags.Lookup(s.flag)
		if flag == nil || flag.Changed {
			continue
		}
		if value, _ := a.env(s.env); value != "" {
			if err := flag.Value.Set(value); err != nil {
				return usagef("%s=%s: %v", s.env, value, err)
			}
			continue
		}
		if s.flag == "token-file" && a.token() != "" {
			continue // the variable with the token itself
		}
		if entry, ok := file[s.key]; ok {
			if err := flag.Value.Set(entry.value); err != nil {
				return usagef("%s: %s: %v", entry.at, s.key, err)
			}
		}
	}
	return a.global.check()
}

// token is that of the environment.
func (a *app) token() string {
	token, _ := a.env("TASKPOOL_TOKEN")
	return token
}

// check refuses values that the flags themselves take.
func (g *globals) check() error {
	if g.timeout < 0 {
		return usagef("--timeout %s: a time to wait is not negative; 0 waits for ever", g.timeout)
	}
	return nil
}

// colorFlag is the value of --color.
type colorFlag terminal.Color

func (c *colorFlag) String() string { return string(*c) }
func (c *colorFlag) Type() string   { return "string" }

func (c *colorFlag) Set(text string) error {
	if !slices.Contains(colors, text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(colors, ", "))
	}
	*c = colorFlag(text)
	return nil
}

// colors are the values of --color.
var colors = []string{string(terminal.ColorAuto), string(terminal.ColorAlways), string(terminal.ColorNever)}

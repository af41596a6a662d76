package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Tell the version of this program",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			a.started = true
			name, commit := build()
			if a.global.json {
				return writeJSON(a.out, fmt.Appendf(nil, `{"version":%q,"commit":%q,"go":%q,"platform":%q}`,
					name, commit, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH))
			}
			if commit != "" {
				name += " (" + commit + ")"
			}
			return a.print(terminal.Line(fmt.Sprintf("taskpool %s, %s, %s/%s", name, runtime.Version(), runtime.GOOS, runtime.GOARCH)) + "\n")
		},
	}
}

// version is set by the linker in a build that knows it.
var version string

// build is the version and what the Go tool wrote into the program.
func build() (name, commit string) {
	name = version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(name, "unknown"), ""
	}
	name = cmp.Or(name, info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value[:min(len(s.Value), 12)]
		}
	}
	return name, commit
}

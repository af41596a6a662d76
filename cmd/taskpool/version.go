package main

import (
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
			version, commit := build()
			if a.global.json {
				return writeJSON(a.out, fmt.Appendf(nil, `{"version":%q,"commit":%q,"go":%q,"platform":%q}`,
					version, commit, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH))
			}
			if commit != "" {
				version += " (" + commit + ")"
			}
			return a.print(terminal.Line(fmt.Sprintf("taskpool %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)) + "\n")
		},
	}
}

// build is what the Go tool wrote into the program.
func build() (version, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	version = info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value[:min(len(s.Value), 12)]
		}
	}
	return version, commit
}

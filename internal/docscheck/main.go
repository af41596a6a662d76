// Command docscheck checks the Markdown files below a folder: every relative
// link leads to a file, every fragment to a heading, and every `make X` in code
// names a target of the Makefile.
//
//	go run ./internal/docscheck .
//
// It prints one line for each fault and exits with 1 if there is any.
package main

import (
	"fmt"
	"io/fs"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docscheck FOLDER")
		os.Exit(2)
	}
	faults, err := check(os.DirFS(os.Args[1]).(fs.ReadFileFS))
	if err != nil {
		fmt.Fprintln(os.Stderr, "docscheck:", err)
		os.Exit(1)
	}
	for _, f := range faults {
		fmt.Fprintln(os.Stderr, f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

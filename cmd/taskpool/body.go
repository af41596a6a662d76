package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// bodyFlags are the two ways to give the long text of a task.
type bodyFlags struct{ text, file string }

func (b *bodyFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.text, "body", "", "the long brief, in Markdown")
	cmd.Flags().StringVar(&b.file, "body-file", "", "`file` with the long brief; -: standard input")
}

// read gives the text, and whether one was given.
func (b *bodyFlags) read(a *app, cmd *cobra.Command) (string, bool, error) {
	if err := either(cmd, "body", "body-file"); err != nil {
		return "", false, err
	}
	if !cmd.Flags().Changed("body-file") {
		return b.text, cmd.Flags().Changed("body"), nil
	}
	text, err := a.readFile(b.file)
	if err != nil {
		return "", false, fmt.Errorf("the body: %w", err)
	}
	return string(text), true, nil
}

// maxInput bounds what is read as one text: more than a call takes.
const maxInput = 16 << 20

// readFile reads a small file; "-" is standard input.
func (a *app) readFile(name string) ([]byte, error) {
	from, done, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err == nil && len(text) > maxInput {
		err = fmt.Errorf("%s is bigger than %d MiB", name, maxInput>>20)
	}
	return text, err
}

// open opens a file; "-" is standard input.
func (a *app) open(name string) (from io.Reader, done func(), err error) {
	if name == "-" {
		return a.in, func() {}, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil
}

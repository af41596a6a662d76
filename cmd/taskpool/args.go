package main

import "github.com/spf13/cobra"

// oneArg wants exactly one argument, and says what it is.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s is missing: %s; see %s --help", what, cmd.UseLine(), cmd.CommandPath())
		case 1:
			return nil
		}
		return usagef("%q is one argument too many: %s; see %s --help", args[1], cmd.UseLine(), cmd.CommandPath())
	}
}

// noArgs wants none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is one argument too many; see %s --help", args[0], cmd.CommandPath())
	}
	return nil
}

// orOneArg wants one or none.
func orOneArg(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return noArgs(cmd, args[1:])
}

// either refuses two flags that exclude each other.
func either(cmd *cobra.Command, one, other string) error {
	if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
		return usagef("--%s and --%s can't be combined; see %s --help", one, other, cmd.CommandPath())
	}
	return nil
}

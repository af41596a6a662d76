package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// completionTimeout bounds what a shell waits for.
const completionTimeout = time.Second

// offer completes a flag.
func offer(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag: a mistake of the program
	}
}

// fixed completes with the given words.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// listed completes the last word of several divided by commas.
func listed(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		all := make([]string, len(words))
		for i, one := range words {
			all[i] = before + one
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// poolNames completes with the server's pools, with nothing when it does not
// answer at once.
func (a *app) poolNames(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if a.complete(cmd.Flags()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.dial()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	answer, err := c.Pools().ListPools(ctx, &taskpoolv1.ListPoolsRequest{PageSize: 1000})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, pool := range answer.GetPools() {
		names = append(names, pool.GetName())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

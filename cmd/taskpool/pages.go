package main

import (
	"math"

	"github.com/spf13/cobra"
)

// maxPage is the most that the server puts on a page.
const maxPage = 1000

// pageFlags say how much of a list to show, and from where.
type pageFlags struct {
	limit int
	token string
}

func (p *pageFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", 50, "at most so many; 0: all")
	cmd.Flags().StringVar(&p.token, "page-token", "", "go on after the list that ended with this `token`")
}

// collect asks for page after page until the limit or the end: ask appends a
// page of at most size that begins at token, and gives the token after it and
// how many there were.
func (p *pageFlags) collect(ask func(token string, size int32) (next string, count int, err error)) (next string, err error) {
	if p.limit < 0 {
		return "", usagef("--limit %d: a limit is not negative; 0 shows all", p.limit)
	}
	left := p.limit
	if left == 0 {
		left = math.MaxInt
	}
	next = p.token
	for {
		var count int
		next, count, err = ask(next, int32(min(left, maxPage)))
		if left -= count; err != nil || next == "" || left <= 0 {
			return next, err
		}
	}
}

//go:build !race

package sqlite

const sparse = 1

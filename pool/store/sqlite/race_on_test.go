//go:build race

package sqlite

// sparse is how much of a test that runs through many cases is left when the
// race detector, under which SQLite is ten times slower, is on: one in so many.
const sparse = 4

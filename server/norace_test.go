//go:build !race

package server_test

// raceDetector: the tests run under it.
const raceDetector = false

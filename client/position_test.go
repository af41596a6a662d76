package client

import (
	"math"
	"testing"
	"time"
)

func TestPosition(t *testing.T) {
	for text, want := range map[string]position{
		"":                       {},
		"AQx-_9":                 {cursor: "AQx-_9"},
		"AQx~7~00000000000000ff": {cursor: "AQx", through: 7, print: 255},
		"AQx~9223372036854775807~ffffffffffffffff": {cursor: "AQx", through: math.MaxInt64, print: math.MaxUint64},
		// What the client didn't write, the server refuses.
		"AQx~":                       {cursor: "AQx~"},
		"AQx~7":                      {cursor: "AQx~7"},
		"AQx~7~":                     {cursor: "AQx~7~"},
		"AQx~7~ff":                   {cursor: "AQx~7~ff"},
		"AQx~7~00000000000000FF":     {cursor: "AQx~7~00000000000000FF"},
		"AQx~07~00000000000000ff":    {cursor: "AQx~07~00000000000000ff"},
		"AQx~0~00000000000000ff":     {cursor: "AQx~0~00000000000000ff"},
		"AQx~-1~00000000000000ff":    {cursor: "AQx~-1~00000000000000ff"},
		"AQx~seven~00000000000000ff": {cursor: "AQx~seven~00000000000000ff"},
		"AQx~9223372036854775808~00000000000000ff": {cursor: "AQx~9223372036854775808~00000000000000ff"},
		"~7~00000000000000ff":                      {cursor: "~7~00000000000000ff"},
		"AQx~6~7~00000000000000ff":                 {cursor: "AQx~6~7~00000000000000ff"},
	} {
		got := parsePosition(text)
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
		if got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := backoff{least: 100 * time.Millisecond, most: 30 * time.Second}
	for round := range 200 {
		bound := b.least
		for range 12 {
			if wait := b.next(); wait < 0 || wait > bound {
				t.Fatalf("round %d: waits %v, at most %v", round, wait, bound)
			}
			bound = min(2*bound, b.most)
		}
		b.reset()
	}
	// It is jitter over all of the bound.
	b = backoff{least: time.Hour, most: time.Hour}
	var low, high int
	for range 1000 {
		switch wait := b.next(); {
		case wait < 15*time.Minute:
			low++
		case wait > 45*time.Minute:
			high++
		}
	}
	if low < 100 || high < 100 {
		t.Errorf("of 1000 waits %d are below a quarter and %d above three", low, high)
	}
}

func TestOptionsOutOfTheOrdinary(t *testing.T) {
	for name, c := range map[string]struct{ options, want FollowOptions }{
		"nothing said": {FollowOptions{}, FollowOptions{Silence: DefaultSilence, MinBackoff: DefaultMinBackoff, MaxBackoff: DefaultMaxBackoff}},
		"negative": {
			FollowOptions{Silence: -1, MinBackoff: -1, MaxBackoff: -1},
			FollowOptions{Silence: DefaultSilence, MinBackoff: DefaultMinBackoff, MaxBackoff: DefaultMaxBackoff},
		},
		"least above most": {FollowOptions{MinBackoff: time.Minute, MaxBackoff: time.Second}, FollowOptions{Silence: DefaultSilence, MinBackoff: time.Minute, MaxBackoff: time.Minute}},
		"for ever":         {FollowOptions{MinBackoff: math.MaxInt64}, FollowOptions{Silence: DefaultSilence, MinBackoff: math.MaxInt64, MaxBackoff: 24 * time.Hour}},
	} {
		f := newFollower(nil, c.options)
		if o := f.options; o.Silence != c.want.Silence || o.MinBackoff != c.want.MinBackoff || o.MaxBackoff != c.want.MaxBackoff {
			t.Errorf("%s: %v %v %v", name, o.Silence, o.MinBackoff, o.MaxBackoff)
		}
		for range 100 {
			if wait := f.wait.next(); wait < 0 || wait > f.options.MaxBackoff {
				t.Errorf("%s: waits %v", name, wait)
			}
		}
	}
}

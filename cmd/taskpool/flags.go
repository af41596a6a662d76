package main

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/taskpool-dev/taskpool/internal/words"
)

// The flag types here read their text at once, so that a wrong value is wrong
// usage and named with its flag.

// wordFlag is one value of an enumeration.
type wordFlag[E words.Enum] struct {
	value E
	none  string // the word for UNSPECIFIED
}

func (f *wordFlag[E]) String() string { return words.Of(f.value) }
func (f *wordFlag[E]) Type() string   { return "word" }

func (f *wordFlag[E]) Set(text string) (err error) {
	f.value, err = words.Parse[E](text, f.none)
	return err
}

// wordsFlag is several, repeated or divided by commas.
type wordsFlag[E words.Enum] struct {
	values []E
	none   string
}

func (f *wordsFlag[E]) String() string {
	all := make([]string, len(f.values))
	for i, value := range f.values {
		all[i] = words.Of(value)
	}
	return strings.Join(all, ",")
}

func (f *wordsFlag[E]) Type() string { return "words" }

func (f *wordsFlag[E]) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		value, err := words.Parse[E](strings.TrimSpace(one), f.none)
		if err != nil {
			return err
		}
		f.values = append(f.values, value)
	}
	return nil
}

// namesFlag is a list of ids or names, repeated or divided by commas.
type namesFlag []string

func (f *namesFlag) String() string { return strings.Join(*f, ",") }
func (f *namesFlag) Type() string   { return "names" }

func (f *namesFlag) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			return fmt.Errorf("%q holds an empty name", text)
		}
		*f = append(*f, one)
	}
	return nil
}

// textsFlag is a list of texts, one each time the flag is given. Commas are
// text.
type textsFlag []string

func (f *textsFlag) String() string { return strings.Join(*f, "; ") }
func (f *textsFlag) Type() string   { return "text" }

func (f *textsFlag) Set(text string) error {
	*f = append(*f, text)
	return nil
}

// pairsFlag is KEY=VALUE, repeated.
type pairsFlag map[string]string

func (f *pairsFlag) String() string { return fmt.Sprint(len(*f)) }
func (f *pairsFlag) Type() string   { return "KEY=VALUE" }

func (f *pairsFlag) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return fmt.Errorf("%q is not KEY=VALUE", text)
	}
	if before, twice := (*f)[key]; twice {
		return fmt.Errorf("%s has a value already: %q", key, before)
	}
	if *f == nil {
		*f = pairsFlag{}
	}
	(*f)[key] = value
	return nil
}

// instantFlag is a point in time: RFC 3339, or how long from now (+1h30m, +2d)
// or ago (-24h).
type instantFlag struct {
	now   func() time.Time
	value *timestamppb.Timestamp
	clear bool // "" and "none" are allowed, and mean the epoch: no such instant
}

func (f *instantFlag) String() string {
	if f.value == nil {
		return ""
	}
	return f.value.AsTime().Format(time.RFC3339)
}

func (f *instantFlag) Type() string { return "time" }

func (f *instantFlag) Set(text string) error {
	if f.clear && (text == "" || text == "none") {
		f.value = &timestamppb.Timestamp{}
		return nil
	}
	at, err := parseInstant(text, f.now)
	if err != nil {
		return err
	}
	f.value = timestamppb.New(at)
	return nil
}

func parseInstant(text string, now func() time.Time) (time.Time, error) {
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		if d, err := parseSpan(text); err == nil {
			return now().UTC().Add(d), nil
		}
	} else if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-01-02T15:04:05Z, or from now +90m, +1h30m, +2d", text)
}

// parseSpan is time.ParseDuration with days, of 24 hours, as its first part.
func parseSpan(text string) (time.Duration, error) {
	sign, rest := text[:1], text[1:]
	var days time.Duration
	if number, after, ok := strings.Cut(rest, "d"); ok {
		n, err := time.ParseDuration(sign + number + "h")
		if err != nil || n.Abs() > (1<<62)/24 {
			return 0, fmt.Errorf("%q is no number of days", number)
		}
		if days, rest = n*24, after; rest == "" {
			return days, nil
		}
	}
	d, err := time.ParseDuration(sign + rest)
	return days + d, err
}

package server

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

func TestPageToken_roundTrip(t *testing.T) {
	for _, want := range []pageToken{
		{}, {query: 1, after: 12, name: "epoch", cursor: "AQ"}, {query: 1<<64 - 1, after: 1 << 62, name: strings.Repeat("n", 255), cursor: strings.Repeat("c", 255)},
	} {
		got, err := parsePageToken(want.String())
		if err != nil || got != want {
			t.Errorf("there and back %+v is %+v, %v", want, got, err)
		}
	}
}

func TestPageToken_refusesOthers(t *testing.T) {
	good := pageToken{query: 7, after: 12, name: "e", cursor: "AQ"}.String()
	if _, err := parsePageToken(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for _, c := range "Az09_-=" {
			bad := good[:i] + string(c) + good[i+1:]
			if _, err := parsePageToken(bad); err == nil && bad != good {
				t.Errorf("%q was read, which differs from %q at %d", bad, good, i)
			}
		}
		if _, err := parsePageToken(good[:i]); err == nil {
			t.Errorf("a token cut to %d characters was read", i)
		}
	}
	for _, bad := range []string{" ", "x", good + "A", good + "=", "\n" + good, strings.Repeat("A", 4096), "🙂"} {
		if _, err := parsePageToken(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestContinued(t *testing.T) {
	first, err := continued("page_token", "", 5)
	if err != nil || first.after != 0 || first.query != 5 {
		t.Errorf("no token is %+v, %v", first, err)
	}
	for name, token := range map[string]string{"garbage": "x", "another query": pageToken{query: 6}.String()} {
		_, err := continued("page_token", token, 5)
		invalid, ok := errors.AsType[*pool.InvalidError](err)
		if !ok || invalid.Reason != pool.ReasonPageTokenMismatch || invalid.Violations[0].Field != "page_token" {
			t.Errorf("%s gives %v", name, err)
		}
	}
}

func TestQueryHash(t *testing.T) {
	seen := map[uint64]string{}
	for name, hash := range map[string]uint64{
		"empty":     queryHash(&taskpoolv1.ReadTaskRequest{}),
		"kind":      queryHash(&taskpoolv1.ListPoolsRequest{}),
		"pool":      queryHash(&taskpoolv1.ReadTaskRequest{Pool: "a"}),
		"filter":    queryHash(&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Available: true}}),
		"actor":     queryHash(&taskpoolv1.ReadTaskRequest{}, "a"),
		"no actor":  queryHash(&taskpoolv1.ReadTaskRequest{}, ""),
		"two texts": queryHash(&taskpoolv1.ReadTaskRequest{}, "", "a"),
	} {
		if other, twice := seen[hash]; twice {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[hash] = name
	}
	labels := &taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Labels: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}}}
	for range 50 {
		if !reflect.DeepEqual(queryHash(labels), queryHash(labels)) {
			t.Fatal("one query has two hashes")
		}
	}
}

func FuzzPageToken(f *testing.F) {
	f.Add("")
	f.Add(pageToken{query: 7, after: 12, name: "e", cursor: "AQ"}.String())
	f.Fuzz(func(t *testing.T, s string) {
		token, err := parsePageToken(s)
		if err != nil {
			return
		}
		if token.String() != s || token.after < 0 {
			t.Fatalf("%q was read as %+v, which is %q", s, token, token.String())
		}
	})
}

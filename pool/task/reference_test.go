package task

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestParseReference(t *testing.T) {
	const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
	for s, want := range map[string]Reference{
		id:                           {Kind: ReferenceID, ID: id},
		strings.ToUpper(id):          {Kind: ReferenceID, ID: id},
		"\t" + id + " ":              {Kind: ReferenceID, ID: id},
		id[:8]:                       {Kind: ReferencePrefix, ID: id[:8]},
		id[:9]:                       {Kind: ReferencePrefix, ID: id[:9]},
		strings.ToUpper(id[:20]):     {Kind: ReferencePrefix, ID: id[:20]},
		id[:35]:                      {Kind: ReferencePrefix, ID: id[:35]},
		"12345678":                   {Kind: ReferencePrefix, ID: "12345678"},
		"T-12":                       {Kind: ReferenceKey, Number: 12},
		"t-1":                        {Kind: ReferenceKey, Number: 1},
		" T-9 ":                      {Kind: ReferenceKey, Number: 9},
		"T-9223372036854775807":      {Kind: ReferenceKey, Number: 9223372036854775807},
		"ref:a":                      {Kind: ReferenceRef, Ref: "a"},
		" ref:master/12.4":           {Kind: ReferenceRef, Ref: "master/12.4"},
		"ref:ref:T-1":                {Kind: ReferenceRef, Ref: "ref:T-1"},
		"ref:" + textOf("任", 128):    {Kind: ReferenceRef, Ref: textOf("任", 128)},
		"ref:" + strings.ToUpper(id): {Kind: ReferenceRef, Ref: strings.ToUpper(id)},
	} {
		got, ok := ParseReference(s)
		if !ok || got != want {
			t.Errorf("%q is %+v, %v", s, got, ok)
		}
		if again, ok := ParseReference(got.String()); !ok || again != got {
			t.Errorf("%q is written %q, which is %+v", s, got.String(), again)
		}
	}
	for _, s := range []string{
		"", " ", id[:7], id + "0", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", ""), "3f2504e04", "3f2504e0-4f8-", "3f2504g0",
		"3f25 4e0", "--------", "T-0", "T-01", "T--1", "T-", "T-+1", "T-1.5", "T-1a", "T- 1", "T12", "12", "#12", "K-12", "T-9223372036854775808",
		"T-１", "ref:", "ref: a", "ref:a b", "ref:\x00", "Ref:a", "ref:" + textOf("x", 129), "\xff", "３f2504e0", id[:8] + "\u200b",
	} {
		if got, ok := ParseReference(s); ok {
			t.Errorf("%q is %+v", s, got)
		}
	}
}

func FuzzReference(f *testing.F) {
	for _, s := range []string{"", "T-12", "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "3f2504e0", "ref:a", " t-1 ", "ref:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, ok := ParseReference(s)
		if !ok {
			return
		}
		if again, ok := ParseReference(r.String()); !ok || again != r {
			t.Errorf("%q is %+v, written %q, which is %+v", s, r, r.String(), again)
		}
		switch r.Kind {
		case ReferenceID:
			if id, err := uuid.Parse(r.ID); err != nil || id.String() != r.ID {
				t.Errorf("%q is no canonical UUID", r.ID)
			}
		case ReferencePrefix:
			if id, err := uuid.Parse(r.ID + "00000000-0000-0000-0000-000000000000"[len(r.ID):]); err != nil || !strings.HasPrefix(id.String(), r.ID) || len(r.ID) < MinPrefixLength {
				t.Errorf("%q begins no canonical UUID", r.ID)
			}
		case ReferenceKey:
			if r.Number < 1 {
				t.Errorf("%q is number %d", s, r.Number)
			}
		case ReferenceRef:
			if !ValidRef(r.Ref) {
				t.Errorf("%q is no local name", r.Ref)
			}
		default:
			t.Errorf("%q is of kind %d", s, r.Kind)
		}
	})
}

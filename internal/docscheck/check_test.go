package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestCheck(t *testing.T) {
	const makefile = "CI ?= false\nbuild: ## Build.\n\tgo build\ntest verify-docs:\n"
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{name: "nothing to check", files: map[string]string{"a.txt": "[x](nowhere)"}},
		{name: "links that lead somewhere", files: map[string]string{
			"a.md":       "[b](docs/b.md) [c](docs/b.md#two-words) [d](#a) <https://x> [e](https://x/y)\n# A",
			"docs/b.md":  "# Two words\n[up](../a.md \"title\") ![i](/docs/i.png)\n\n[ref]: ../a.md#a",
			"docs/i.png": "",
		}},
		{
			name:  "a link to no file",
			files: map[string]string{"docs/a.md": "one\n[b](b.md)"},
			want:  []string{`docs/a.md:2: "b.md" leads nowhere: there is no docs/b.md`},
		},
		{
			name:  "a link out of the tree",
			files: map[string]string{"a.md": "[b](../b.md)"},
			want:  []string{`a.md:1: "../b.md" leads nowhere: there is no ../b.md`},
		},
		{
			name:  "a link to no heading",
			files: map[string]string{"a.md": "# One\n# One\n[x](#one-1)\n[y](#two)"},
			want:  []string{`a.md:4: "#two" leads nowhere: a.md has no such heading`},
		},
		{
			name:  "a reference to no file",
			files: map[string]string{"a.md": "[b]: b.md"},
			want:  []string{`a.md:1: "b.md" leads nowhere: there is no b.md`},
		},
		{name: "links in code are text", files: map[string]string{
			"a.md": "`[b](b.md)`\n```\n[b](b.md)\n# no heading\n```\n",
		}},
		{name: "targets that exist", files: map[string]string{
			"a.md": "make sure to run `make test verify-docs`\n```sh\n$ make build CI=true\n```", "Makefile": makefile,
		}},
		{
			name: "targets that don't",
			files: map[string]string{
				"a.md": "`make tset`\n```\ncd x && make CI=true biuld\n```", "Makefile": makefile,
			},
			want: []string{
				`a.md:1: the Makefile has no target "tset"`,
				`a.md:3: the Makefile has no target "biuld"`,
			},
		},
		{name: "folders of others", files: map[string]string{
			"node_modules/x/a.md": "[b](b.md)", ".git/a.md": "[b](b.md)", "testdata/a.md": "[b](b.md)",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for name, text := range tt.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			got, err := check(fsys)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

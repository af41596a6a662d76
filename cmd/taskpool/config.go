package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// defaultConfig is read where --config names no file; it need not be there.
const defaultConfig = "taskpool.yaml"

// entry is a value of the configuration file.
type entry struct {
	value string
	at    string // "taskpool.yaml:3"
}

// readConfig reads the configuration file: its values by key, "serve.data" for
// data below serve.
func readConfig(name string) (map[string]entry, error) {
	optional := name == ""
	if optional {
		name = defaultConfig
	}
	text, err := os.ReadFile(name)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usagef("configuration: %v", err)
	}
	return parseConfig(name, text)
}

func parseConfig(name string, text []byte) (map[string]entry, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, usagef("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	found := map[string]entry{}
	if len(document.Content) == 0 {
		return found, nil // empty, or only comments
	}
	if err := readMapping(name, "", document.Content[0], found); err != nil {
		return nil, err
	}
	return found, nil
}

// readMapping collects the entries of a mapping below prefix, which is empty or
// ends with a dot.
func readMapping(name, prefix string, node *yaml.Node, found map[string]entry) error {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return usagef("%s:%d: here are keys and values expected, such as addr: 127.0.0.1:7420", name, node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		full, at := prefix+key.Value, fmt.Sprintf("%s:%d", name, key.Line)
		known, below := knownKeys(prefix)
		if slices.Contains(below, key.Value) {
			if err := readMapping(name, full+".", value, found); err != nil {
				return err
			}
			continue
		}
		if !slices.Contains(known, key.Value) {
			return usagef("%s: there is no key %q; there are %s", at, full, strings.Join(append(known, below...), ", "))
		}
		if value.Kind != yaml.ScalarNode {
			return usagef("%s: %s takes one value", at, full)
		}
		if before, twice := found[full]; twice {
			return usagef("%s: %s is set before, at %s", at, full, before.at)
		}
		found[full] = entry{value.Value, at}
	}
	return nil
}

// knownKeys are those below prefix that have a value, and those that have keys
// below them.
func knownKeys(prefix string) (known, below []string) {
	for _, s := range settings {
		rest, ok := strings.CutPrefix(s.key, prefix)
		if !ok {
			continue
		}
		if head, _, nested := strings.Cut(rest, "."); !nested {
			known = append(known, rest)
		} else if !slices.Contains(below, head) {
			below = append(below, head)
		}
	}
	return known, below
}

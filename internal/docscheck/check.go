package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
)

var (
	fencePattern     = regexp.MustCompile("^\\s*(```|~~~)")
	codePattern      = regexp.MustCompile("`[^`]+`")
	headingPattern   = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	linkPattern      = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	referencePattern = regexp.MustCompile(`^\s*\[[^\]]+\]:\s*<?([^\s>]+)`)
	makePattern      = regexp.MustCompile(`(?:^|[\s` + "`" + `;&(])make((?:[ \t]+[A-Za-z][\w-]*(?:=\S*)?)+)`)
	targetPattern    = regexp.MustCompile(`(?m)^([a-z][a-z0-9 -]*):(?:[^=]|$)`)
	linkTextPattern  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// page is what of a Markdown file others can point to, and what it points to.
type page struct {
	headings map[string]bool
	links    []reference
	targets  []reference
}

// reference is something that must exist, and the line that says so.
type reference struct {
	line int
	name string
}

// check reads every Markdown file of fsys and returns its faults, in the order
// of files and lines.
func check(fsys fs.ReadFileFS) ([]string, error) {
	pages := map[string]page{}
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipFolder(d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fsys.ReadFile(name)
		if err != nil {
			return err
		}
		pages[name] = parse(string(text))
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	targets := makeTargets(fsys)
	var faults []string
	for _, name := range names {
		for _, l := range pages[name].links {
			if fault := checkLink(fsys, pages, name, l.name); fault != "" {
				faults = append(faults, fmt.Sprintf("%s:%d: %s", name, l.line, fault))
			}
		}
		for _, t := range pages[name].targets {
			if !targets[t.name] {
				faults = append(faults, fmt.Sprintf("%s:%d: the Makefile has no target %q", name, t.line, t.name))
			}
		}
	}
	return faults, nil
}

func skipFolder(name string) bool {
	return name != "." && strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata"
}

// makeTargets is empty when there is no Makefile, so that each target is a fault.
func makeTargets(fsys fs.ReadFileFS) map[string]bool {
	targets := map[string]bool{}
	text, _ := fsys.ReadFile("Makefile")
	for _, m := range targetPattern.FindAllStringSubmatch(string(text), -1) {
		for target := range strings.FieldsSeq(m[1]) {
			targets[target] = true
		}
	}
	return targets
}

func parse(text string) page {
	p := page{headings: map[string]bool{}}
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		if m := fencePattern.FindStringSubmatch(line); m != nil && (fence == "" || fence == m[1]) {
			if fence == "" {
				fence = m[1]
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			p.addTargets(i+1, line)
			continue
		}
		for _, code := range codePattern.FindAllString(line, -1) {
			p.addTargets(i+1, strings.Trim(code, "`"))
		}
		if m := headingPattern.FindStringSubmatch(line); m != nil {
			p.addHeading(m[1])
		}
		prose := codePattern.ReplaceAllString(line, "")
		for _, m := range linkPattern.FindAllStringSubmatch(prose, -1) {
			p.links = append(p.links, reference{i + 1, m[1]})
		}
		if m := referencePattern.FindStringSubmatch(prose); m != nil {
			p.links = append(p.links, reference{i + 1, m[1]})
		}
	}
	return p
}

func (p *page) addTargets(line int, code string) {
	for _, m := range makePattern.FindAllStringSubmatch(code, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			if !strings.Contains(word, "=") {
				p.targets = append(p.targets, reference{line, word})
			}
		}
	}
}

// addHeading gives the heading the fragment that code hosts give it: lower case,
// blanks to hyphens, punctuation dropped, a number behind a repetition.
func (p *page) addHeading(heading string) {
	heading = linkTextPattern.ReplaceAllString(heading, "$1")
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		default:
			return -1
		}
	}, heading)
	unique := slug
	for n := 1; p.headings[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", slug, n)
	}
	p.headings[unique] = true
}

// checkLink returns what is wrong with a link, or "".
func checkLink(fsys fs.ReadFileFS, pages map[string]page, from, link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return fmt.Sprintf("%q is not a link", link)
	}
	if u.Scheme != "" || u.Host != "" {
		return "" // what others host is theirs to keep
	}
	to := from
	switch {
	case strings.HasPrefix(u.Path, "/"):
		to = path.Clean(u.Path[1:])
	case u.Path != "":
		to = path.Join(path.Dir(from), u.Path)
	}
	if _, err := fs.Stat(fsys, to); err != nil {
		return fmt.Sprintf("%q leads nowhere: there is no %s", link, to)
	}
	if target, ok := pages[to]; ok && u.Fragment != "" && !target.headings[u.Fragment] {
		return fmt.Sprintf("%q leads nowhere: %s has no such heading", link, to)
	}
	return ""
}

package task

import (
	"errors"
	"net/url"
	"strings"
	"unicode"
)

// linkSchemes are the schemes a link may have, and whether they need a host.
// Only ones that are safe to click wherever a task is shown: never javascript,
// data, vbscript, file or blob.
var linkSchemes = map[string]bool{
	"http": true, "https": true, "ftp": true, "ftps": true, "sftp": true, "ssh": true, "git": true,
	"mailto": false, "tel": false, "urn": false, "doi": false,
}

// linkExamples show what stands behind the schemes that have no host.
var linkExamples = map[string]string{
	"mailto": "name@example.com", "tel": "+15550100", "urn": "isbn:9780131103627", "doi": "10.1000/182",
}

const linkSchemeNames = "https, http, mailto, ftp, ftps, sftp, ssh, git, tel, urn, doi"

// readLink checks one link and gives it trimmed: an absolute URL (RFC 3986) of
// one of linkSchemes, without spaces and control characters, at most LinkLength
// code points. Otherwise it is kept as written.
func readLink(v *Violations, field, link string, l *Limits) string {
	rule := textRule{
		max: l.LinkLength, required: true,
		ifEmpty: "give a URL, or leave it out", ifLong: "use a shorter URL",
	}
	before := len(*v)
	link = rule.read(v, field, link)
	if len(*v) == before {
		if problem := linkProblem(link); problem != "" {
			v.Add(field, "%s", problem)
		}
	}
	return link
}

// linkProblem says what is wrong with a link, "" when nothing is.
func linkProblem(link string) string {
	if i := strings.IndexFunc(link, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }); i >= 0 {
		return shown(link) + " holds a space or a control character: write it percent-encoded, as %20"
	}
	u, err := url.Parse(link)
	var escape url.EscapeError
	if errors.As(err, &escape) {
		return shown(link) + " has a percent sign without two hexadecimal digits: write it as %25"
	}
	if err != nil {
		return shown(link) + " is no URL: write it as in https://example.com/page"
	}
	if u.Scheme == "" {
		return shown(link) + " is no absolute URL: start it with a scheme, as in https://example.com/page"
	}
	needsHost, allowed := linkSchemes[u.Scheme]
	switch {
	case !allowed:
		return shown(link) + " has a scheme that is not allowed: use one of " + linkSchemeNames
	case needsHost && u.Hostname() == "":
		return shown(link) + " names no host: write it as in " + u.Scheme + "://example.com/page"
	case !needsHost && u.Opaque == "":
		return shown(link) + " names nothing: write it as in " + u.Scheme + ":" + linkExamples[u.Scheme]
	}
	return ""
}

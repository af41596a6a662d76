package task

import (
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for _, link := range []string{
		"https://example.com", "http://example.com/a?b=c#d", "HTTPS://EXAMPLE.COM/", "https://user:pw@example.com:8443/x", "http://[::1]:80/",
		"https://例え.jp/パス", "https://example.com/a%20b", "ftp://example.com/f", "ftps://example.com/f", "sftp://example.com/f",
		"ssh://git@example.com/repo", "git://example.com/repo.git", "mailto:a@example.com", "tel:+15550100", "urn:isbn:123", "doi:10.1000/182",
		"https://example.com/" + strings.Repeat("a", 2028),
	} {
		checked, v := Draft{Title: "t", Links: []string{"\n " + link + " \t"}}.Check(DefaultLimits())
		if v != nil || checked.Links[0] != link {
			t.Errorf("%q: %v", link, v)
		}
	}
}

func TestLinksRefused(t *testing.T) {
	for link, says := range map[string]string{
		"javascript:alert(1)": "scheme that is not allowed", "JavaScript:alert(1)": "not allowed", "data:text/html,x": "not allowed",
		"vbscript:x": "not allowed", "file:///etc/passwd": "not allowed", "blob:https://example.com/x": "not allowed", "foo:bar": "not allowed",
		"localhost:8080/x": "not allowed", "example.com/page": "no absolute URL", "//example.com/page": "no absolute URL", "/page": "no absolute URL",
		"#top": "no absolute URL", "see the wiki": "space", "https://example.com/a b": "space", "https://example.com/a\u2028b": "space",
		"https://example.com/a\nb": "control", "https://example.com/\x1b": "control", "java\tscript:alert(1)": "control", "https://": "no host",
		"http:example.com": "no host", "http:///page": "no host", "https://:80/": "no host", "ssh:": "no host", "git:repo": "no host",
		"mailto:": "names nothing", "urn:": "names nothing", "tel://1": "names nothing", "https://example.com/100%": "%25", "http://[::1": "is no URL",
		":": "is no URL", "https://example.com:http/": "is no URL", "git@example.com:a/b": "is no URL", "https://example.com\\@evil.example/": "is no URL",
		"https://example.com/" + strings.Repeat("a", 2029): "2049 characters", "": "empty", " ": "white space",
	} {
		_, v := Draft{Title: "t", Links: []string{"https://example.com", link}}.Check(DefaultLimits())
		only(t, v, "links[1]", says)
		if len(v) == 1 && len(v[0].Description) > 300 {
			t.Errorf("%d bytes are said about %.40q", len(v[0].Description), link)
		}
	}
}

func TestLinkSchemeTables(t *testing.T) {
	named := strings.Split(linkSchemeNames, ", ")
	if len(named) != len(linkSchemes) {
		t.Errorf("%d schemes are named, %d are allowed", len(named), len(linkSchemes))
	}
	for _, scheme := range named {
		needsHost, allowed := linkSchemes[scheme]
		if _, example := linkExamples[scheme]; !allowed || example == needsHost {
			t.Errorf("%s: allowed %v, needs a host %v, has an example %v", scheme, allowed, needsHost, example)
		}
		if !needsHost && linkProblem(scheme+":"+linkExamples[scheme]) != "" {
			t.Errorf("the example for %s is refused", scheme)
		}
	}
}

package housetest

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// externalLinks is the list of allowed external links. A person reviews it before a release.
const externalLinks = "supabase/internal/housetest/testdata/external-links.txt"

// TestDocsLinks checks every link of the docs. An internal link must lead to a file, and to a
// heading if it names one. An external link must be in the list of allowed links.
func TestDocsLinks(t *testing.T) {
	listed := map[string]bool{} // whether a page has the link
	for line := range strings.Lines(read(t, externalLinks)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			listed[line] = false
		}
	}
	top := root(t)
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(p.text, ""), -1) {
			to, err := url.Parse(m[1])
			switch {
			case err != nil:
				t.Errorf("%s: %v", p.name, err)
			case to.Scheme == "":
				if err := checkInternal(top, p.name, to); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			default:
				if _, ok := listed[m[1]]; !ok {
					t.Errorf("%s links to %s, which is not in %s", p.name, m[1], externalLinks)
				}
				listed[m[1]] = true
			}
		}
	}
	for address, used := range listed {
		if !used {
			t.Errorf("%s lists %s, but no page links to it", externalLinks, address)
		}
	}
}

// checkInternal returns an error if a link of a page leads to no file or to no heading.
func checkInternal(top, from string, to *url.URL) error {
	file := from
	if to.Path != "" {
		file = path.Join(path.Dir(from), to.Path)
	}
	name := filepath.Join(top, file)
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if to.Fragment != "" && !hasHeading(string(text), to.Fragment) {
		return fmt.Errorf("%s has no heading #%s", file, to.Fragment)
	}
	return nil
}

// hasHeading reports whether text has a heading with the anchor that GitHub derives from it.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		derived := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return r
			}
			return -1
		}, heading)
		if derived == anchor {
			return true
		}
	}
	return false
}

func TestHasHeading(t *testing.T) {
	text := "# The `daawo` CLI, in short\n```\n# not a heading\n```\ntext\n"
	for anchor, want := range map[string]bool{"the-daawo-cli-in-short": true, "not-a-heading": false, "text": false,
		"the": false} {
		if got := hasHeading(text, anchor); got != want {
			t.Errorf("%s: %t", anchor, got)
		}
	}
}

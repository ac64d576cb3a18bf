package main

import (
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

// TestDocsLinks checks every link of the docs. An internal link must lead to a file, and to a heading if it names one. An
// external link must be listed in testdata/external-links.txt, which a person reviews before a release.
func TestDocsLinks(t *testing.T) {
	text, err := os.ReadFile("testdata/external-links.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			listed[line] = false
		}
	}
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(p.text, ""), -1) {
			to, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			if to.Scheme != "" {
				if _, ok := listed[m[1]]; !ok {
					t.Errorf("%s links to %s, which is not in testdata/external-links.txt", p.name, m[1])
				}
				listed[m[1]] = true
				continue
			}
			file := p.name
			if to.Path != "" {
				file = path.Join(path.Dir(p.name), to.Path)
			}
			target, err := os.ReadFile(filepath.Join("..", file))
			if info, statErr := os.Stat(filepath.Join("..", file)); statErr == nil && info.IsDir() {
				err = nil
			}
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
			} else if to.Fragment != "" && !hasHeading(string(target), to.Fragment) {
				t.Errorf("%s: %s has no heading #%s", p.name, file, to.Fragment)
			}
		}
	}
	for address, used := range listed {
		if !used {
			t.Errorf("testdata/external-links.txt lists %s, but no page links to it", address)
		}
	}
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

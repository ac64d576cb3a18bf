package housetest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testNamed   = regexp.MustCompile("`(?:([a-z0-9]+)\\.)?((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)`")
	testDefined = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)\(`)
)

// TestDocsNamedTestsExist checks that each test that a page names exists, in the named package.
func TestDocsNamedTestsExist(t *testing.T) {
	folders := map[string][]string{} // by test name, the last part of the folders that define it
	for _, name := range goFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range testDefined.FindAllStringSubmatch(read(t, name), -1) {
			folders[m[1]] = append(folders[m[1]], path.Base(path.Dir(name)))
		}
	}
	named := 0
	for _, p := range pages(t) {
		for _, m := range testNamed.FindAllStringSubmatch(p.text, -1) {
			named++
			switch in := folders[m[2]]; {
			case in == nil:
				t.Errorf("%s names %s, which does not exist", p.name, m[0])
			case m[1] != "" && !slices.Contains(in, m[1]):
				t.Errorf("%s names %s, which is in %s", p.name, m[0], strings.Join(in, ", "))
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named; does the pattern still match?", named)
	}
}

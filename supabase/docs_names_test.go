package main

import (
	"io/fs"
	"os"
	"path/filepath"
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
	packages := map[string][]string{} // by test name, the folders that define it
	for _, root := range []string{".", "../functions", "../docker", "../scripts", "../web"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && slices.Contains([]string{"node_modules", "testdata", "dist"}, d.Name()) {
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			for _, m := range testDefined.FindAllSubmatch(text, -1) {
				packages[string(m[1])] = append(packages[string(m[1])], filepath.Base(filepath.Dir(path)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := 0
	for _, p := range pages(t) {
		for _, m := range testNamed.FindAllStringSubmatch(p.text, -1) {
			named++
			switch in := packages[m[2]]; {
			case in == nil:
				t.Errorf("%s names %s, which does not exist", p.name, m[0])
			case m[1] != "" && !slices.Contains(in, m[1]):
				t.Errorf("%s names %s, which is in %s", p.name, m[0], strings.Join(in, ", "))
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named; is the pattern right?", named)
	}
}

package housetest

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPackageComments checks that each package has a comment of some length.
func TestPackageComments(t *testing.T) {
	for path, p := range listPackages(t) {
		if within(path, "daawo/supabase", "daawo/functions", "daawo/web") && len(p.Doc) < 40 {
			t.Errorf("%s has no package comment that says what it is", path)
		}
	}
}

var (
	namesImporters = regexp.MustCompile(`(?i)\b(?:only ([^.;:]*?)|nothing) imports? (?:it|this package)\b`)
	speaksOfImport = regexp.MustCompile(`\bimports? (?:it|this package)\b`)
	namesImports   = regexp.MustCompile(`(?i)\bof ours it imports ([^.;:]*)|\bimports (nothing) of ours\b`)
)

// TestPackageCommentImports checks three forms of sentences in the comments of packages: "Only app
// and auth import it", "Of ours it imports db and wire", "imports nothing of ours". A name includes
// the packages below it. Imports of tests do not count.
func TestPackageCommentImports(t *testing.T) {
	all := listPackages(t)
	importers := map[string][]string{}
	for path, p := range all {
		for _, name := range p.Imports {
			importers[name] = append(importers[name], path)
		}
	}
	sentences := 0
	for path, p := range all {
		if !strings.HasPrefix(path, internal) && path != "daawo/functions/admin" {
			continue
		}
		text := packageComment(t, p.Dir)
		named := namesImporters.FindAllStringSubmatch(text, -1)
		if len(named) != len(speaksOfImport.FindAllString(text, -1)) {
			t.Errorf(`%s: name the importers as "Only … import it", which this test can read`, path)
		}
		for _, m := range named {
			sentences++
			for _, difference := range compareNames(path, m[1], importers[path]) {
				t.Errorf("the importers of %s: %s", path, difference)
			}
		}
		for _, m := range namesImports.FindAllStringSubmatch(text, -1) {
			sentences++
			ours := slices.DeleteFunc(slices.Clone(p.Imports), func(name string) bool { return !within(name, module) })
			for _, difference := range compareNames(path, m[1], ours) {
				t.Errorf("the imports of %s: %s", path, difference)
			}
		}
	}
	if sentences < 40 {
		t.Errorf("found only %d sentences; do the patterns still match?", sentences)
	}
}

// compareNames compares a list in words with a list of packages, without those below self. It
// returns the differences.
func compareNames(self, words string, packages []string) (differences []string) {
	var named []string
	for name := range strings.SplitSeq(strings.ReplaceAll(words, " and ", ", "), ", ") {
		switch {
		case name == "" || name == "tests" || name == "nothing":
		case name == "package main":
			named = append(named, "daawo/supabase")
		case within(name, "stack"):
			named = append(named, "daawo/supabase/"+name)
		case strings.HasPrefix(name, "functions/"), strings.HasPrefix(name, "supabase/"):
			named = append(named, "daawo/"+name)
		default:
			named = append(named, internal+name)
		}
	}
	includes := func(name, path string) bool { return path == name || name != "daawo/supabase" && within(path, name) }
	for _, name := range named {
		if !slices.ContainsFunc(packages, func(path string) bool { return includes(name, path) }) {
			differences = append(differences, fmt.Sprintf("the comment names %s, the source does not", name))
		}
	}
	for _, path := range packages {
		if !within(path, self) && !slices.ContainsFunc(named, func(name string) bool { return includes(name, path) }) {
			differences = append(differences, fmt.Sprintf("the comment does not name %s", path))
		}
	}
	return differences
}

func TestCompareNames(t *testing.T) {
	for _, c := range []struct {
		words    string
		packages []string
		want     int
	}{
		{"app, cli and supabase/edge", append(engine("app", "cli"), edge), 0},
		{"rest", engine("rest/plan"), 0},
		{"stack and stack/child", []string{stack, stack + "/child"}, 0},
		{"package main and tests", []string{"daawo/supabase"}, 0},
		{"", engine("self/part"), 0},
		{"app and cli", engine("app"), 1},
		{"app", engine("app", "cli"), 1},
		{"package main", engine("app"), 2},
		{"", engine("app"), 1},
	} {
		if got := compareNames(internal+"self", c.words, c.packages); len(got) != c.want {
			t.Errorf("%q: %d differences, want %d: %q", c.words, len(got), c.want, got)
		}
	}
}

// packageComment returns the whole comment of a package on one line.
func packageComment(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(file.Doc.Text() + " ")
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

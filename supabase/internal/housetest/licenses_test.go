package housetest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/licenses.md")

// reviewed are the licences that the product's own licence allows. Another one needs a decision
// first.
var reviewed = []string{
	"MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "MPL-2.0", "BlueOak-1.0.0",
	"CC-BY-4.0", "MIT OR Apache-2.0", "(MIT OR CC0-1.0)", "CC0-1.0",
}

// notStated is the licence of a module whose authors state none. No program contains it:
// storage-go, which supabase-go imports, reaches only programs whose functions import
// edge/supabaseclient.
const notStated = "not stated"

// declared are licences that stand elsewhere than in the usual file.
var declared = map[string]string{
	"github.com/supabase-community/storage-go": notStated,
	"combine-errors":      "MIT",          // in its Readme.md
	"parse-cache-control": "BSD-3-Clause", // in its LICENSE
}

// licensed is a dependency with its licence.
type licensed struct{ name, version, license string }

// TestLicenses compares docs/licenses.md with the dependencies, and fails if one has no licence or
// an unreviewed one.
func TestLicenses(t *testing.T) {
	program := moduleLicenses(t, "", "./supabase")
	for _, l := range program {
		if l.license == notStated || strings.HasPrefix(l.name, "github.com/supabase-community/") {
			t.Errorf("the program contains %s %s, with the licence %q", l.name, l.version, l.license)
		}
	}
	others := moduleLicenses(t, "", "-test", "./...", "honnef.co/go/tools/cmd/staticcheck")
	others = append(others, moduleLicenses(t, "-modfile=scripts/tools.mod",
		"github.com/rhysd/actionlint/cmd/actionlint", "golang.org/x/vuln/cmd/govulncheck")...)
	slices.SortFunc(others, func(a,
		b licensed) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version))
	})
	others = slices.DeleteFunc(slices.Compact(others), func(l licensed) bool { return slices.Contains(program, l) })
	shipped, building := packageLicenses(t)

	var b strings.Builder
	b.WriteString("# Licences of the dependencies\n\n" +
		"This page is generated: `go test ./supabase/internal/housetest -run TestLicenses -update` writes it from the files of\n" +
		"licences in the Go modules and from `package-lock.json`, and the tests check it. The packages `@embedded-postgres/…`\n" +
		"contain PostgreSQL, under the PostgreSQL Licence.\n\n" +
		"The authors of storage-go state no licence. The program does not contain it. supabase-go imports it, and\n" +
		"`supabase/edge/supabaseclient` imports supabase-go. A program whose functions import that package contains storage-go:\n" +
		"ask its authors for a licence before you distribute such a program.\n")
	for _, section := range []struct {
		title string
		all   []licensed
	}{
		{"Go modules in the program", program},
		{"Go modules of tests and tools", others},
		{"npm packages in the site and the archives", shipped},
		{"npm packages of the build and the tests", building},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| name | version | licence |\n|---|---|---|\n", section.title)
		for _, l := range section.all {
			if !slices.Contains(reviewed, l.license) && (l.license == "" || l.license != declared[l.name]) {
				t.Errorf("%s %s: the licence %q is not reviewed", l.name, l.version, l.license)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", l.name, l.version, l.license)
		}
		if len(section.all) < 5 {
			t.Errorf("%s: only %d", section.title, len(section.all))
		}
	}
	const page = "docs/licenses.md"
	if *update {
		if err := os.WriteFile(filepath.Join(root(t), page), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, page) != b.String() {
		t.Errorf("%s is out of date; run: go test ./supabase/internal/housetest -run TestLicenses -update", page)
	}
}

// moduleLicenses returns the modules that packages need on Linux, in order of their names. modfile
// is a flag, or "".
func moduleLicenses(t *testing.T, modfile string, packages ...string) (all []licensed) {
	t.Helper()
	args := []string{"list"}
	if modfile != "" {
		args = append(args, modfile)
	}
	args = append(args, "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}")
	list := exec.CommandContext(t.Context(), "go", append(args, packages...)...)
	list.Dir = root(t)
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=") // without make's build tags
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(list.Args, " "), err)
	}
	lines := slices.Collect(strings.Lines(string(out)))
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 3 {
			all = append(all, licensed{fields[0], fields[1], cmp.Or(licenseOf(fields[2]), declared[fields[0]])})
		}
	}
	return all
}

// licenseTexts lists words of each licence's text, in the order in which they are tried.
var licenseTexts = []struct {
	license string
	words   *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*(Neither the name|names of its contributors may)`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute this software`)},
	{"CC0-1.0", regexp.MustCompile(`public domain with CC0 1\.0`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person`)},
}

// licenseOf returns the licence of a module from the file in its folder, or "".
func licenseOf(dir string) string {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "licen") && !strings.HasPrefix(name, "copying") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, l := range licenseTexts {
			if l.words.MatchString(flat) {
				return l.license
			}
		}
	}
	return ""
}

// packageLicenses returns the npm packages of package-lock.json: those that users get, and those of
// the build and the tests. A package for another platform has the licence of the package that names
// it.
func packageLicenses(t *testing.T) (shipped, building []licensed) {
	t.Helper()
	var lock struct {
		Packages map[string]struct {
			Version, License     string
			Dev, Link            bool
			OptionalDependencies map[string]string
		}
	}
	if err := json.Unmarshal([]byte(read(t, "package-lock.json")), &lock); err != nil {
		t.Fatal(err)
	}
	parents := map[string]string{} // licence of the package that names an optional one
	for _, p := range lock.Packages {
		for name := range p.OptionalDependencies {
			parents[name] = max(parents[name], p.License)
		}
	}
	for path, p := range lock.Packages {
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 || p.Link {
			continue
		}
		name := path[at+len("node_modules/"):]
		l := licensed{name, p.Version, cmp.Or(p.License, parents[name], declared[name])}
		if p.Dev {
			building = append(building, l)
		} else {
			shipped = append(shipped, l)
		}
	}
	order := func(a, b licensed) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version)) }
	slices.SortFunc(shipped, order)
	slices.SortFunc(building, order)
	return slices.Compact(shipped), slices.Compact(building)
}

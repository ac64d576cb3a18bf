package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependenciesAreJustified: docs/dependencies.md says of each library that we ask for why it is here, and of no other.
func TestDependenciesAreJustified(t *testing.T) {
	text, err := os.ReadFile("../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(string(text), -1) {
		if names := strings.Split(row[1], ", "); row[1] != "module" && row[1] != "package" {
			listed = append(listed, names...)
		}
	}
	used := map[string]bool{}
	for _, d := range append(goModules(t), npmPackages(t, "../package.json", "../web/package.json")...) {
		i := slices.IndexFunc(listed, func(name string) bool {
			same, _ := path.Match(name, d)
			return same || strings.HasSuffix(d, "/"+name) && !strings.HasPrefix(d, "@") // a Go module by the end of its path
		})
		if i < 0 {
			t.Errorf("%s has no line in docs/dependencies.md", d)
			continue
		}
		used[listed[i]] = true
	}
	for _, name := range listed {
		if !used[name] {
			t.Errorf("docs/dependencies.md justifies %s, which nobody asks for", name)
		}
	}
}

// goModules are the modules that go.mod asks for itself, without the suffix of their major version.
func goModules(t *testing.T) (names []string) {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	major := regexp.MustCompile(`/v[0-9]+$`)
	for _, r := range mod.Require {
		tool := slices.ContainsFunc(mod.Tool, func(tool struct{ Path string }) bool { return strings.HasPrefix(tool.Path, r.Path+"/") })
		if !r.Indirect || tool {
			names = append(names, major.ReplaceAllString(r.Path, ""))
		}
	}
	return names
}

func npmPackages(t *testing.T, files ...string) (names []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		for _, group := range []map[string]string{p.Dependencies, p.DevDependencies, p.OptionalDependencies} {
			for name := range group {
				names = append(names, name)
			}
		}
	}
	return names
}

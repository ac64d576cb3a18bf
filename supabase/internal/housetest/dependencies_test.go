package housetest

import (
	"encoding/json"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependenciesHaveReasons checks that docs/dependencies.md has a line for each direct
// dependency, and no other line.
func TestDependenciesHaveReasons(t *testing.T) {
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(read(t,
		"docs/dependencies.md"), -1) {
		if names := strings.Split(row[1], ", "); row[1] != "module" && row[1] != "package" {
			listed = append(listed, names...)
		}
	}
	used := map[string]bool{}
	modules := append(goModules(t, "go.mod"), goModules(t, "scripts/tools.mod")...)
	for _, d := range append(modules, npmPackages(t, "package.json", "web/package.json")...) {
		i := slices.IndexFunc(listed, func(name string) bool {
			same, _ := path.Match(name, d)
			// a Go module by the end of its path
			return same || strings.HasSuffix(d, "/"+name) && !strings.HasPrefix(d, "@")
		})
		if i < 0 {
			t.Errorf("%s has no line in docs/dependencies.md", d)
			continue
		}
		used[listed[i]] = true
	}
	for _, name := range listed {
		if !used[name] {
			t.Errorf("docs/dependencies.md lists %s, which is not a direct dependency", name)
		}
	}
}

// goModules returns the direct dependencies of a go.mod, without the suffix of their major version.
func goModules(t *testing.T, file string) (names []string) {
	t.Helper()
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", file)
	edit.Dir = root(t)
	out, err := edit.Output()
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
		tool := slices.ContainsFunc(mod.Tool,
			func(tool struct{ Path string }) bool { return strings.HasPrefix(tool.Path, r.Path+"/") })
		if !r.Indirect || tool {
			names = append(names, major.ReplaceAllString(r.Path, ""))
		}
	}
	return names
}

// npmPackages returns the dependencies of package.json files.
func npmPackages(t *testing.T, files ...string) (names []string) {
	t.Helper()
	for _, file := range files {
		var p struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
		if err := json.Unmarshal([]byte(read(t, file)), &p); err != nil {
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

// TestLockFileComplete checks that package-lock.json has the optional packages of all platforms.
// npm leaves out those that the registry at hand does not have, and `npm ci` then fails on every
// machine.
func TestLockFileComplete(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Optional map[string]string `json:"optionalDependencies"`
		} `json:"packages"`
	}
	if err := json.Unmarshal([]byte(read(t, "package-lock.json")), &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 50 {
		t.Errorf("package-lock.json has only %d packages", len(lock.Packages))
	}
	for path, p := range lock.Packages {
		for name := range p.Optional {
			_, hoisted := lock.Packages["node_modules/"+name]
			_, nested := lock.Packages[path+"/node_modules/"+name]
			if !hoisted && !nested {
				t.Errorf("package-lock.json lacks %s, which %s names", name, path)
			}
		}
	}
}

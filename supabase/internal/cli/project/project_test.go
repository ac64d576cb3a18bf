package project

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"daawo"
	configuration "daawo/supabase/internal/base/config"
)

// TestSourceIsComplete checks that the carried source has every package of ours that a program of
// functions imports, and that modules.txt lists the modules that they need.
func TestSourceIsComplete(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "daawo/supabase/stack/child", "daawo/supabase/edgetest")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var needed []string
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case module == "daawo":
			if _, err := fs.Stat(daawo.Source, strings.TrimPrefix(path, "daawo/")); err != nil {
				t.Errorf("source.go does not carry %s: add its folder", path)
			}
		case module != "" && !slices.Contains(needed, module):
			needed = append(needed, module)
		}
	}
	slices.Sort(needed)
	if got := strings.Fields(modules); !slices.Equal(got, needed) {
		t.Errorf("modules.txt differs; it should be\n%s", strings.Join(needed, "\n"))
	}
}

// TestInit checks which files are written, and which existing ones stay.
func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "My shop!")
	written, err := Init(Options{Dir: dir})
	if err != nil || len(written) != 5 {
		t.Fatal(written, err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "supabase/config.toml"))
	if err != nil || !strings.Contains(string(config), `project_id = "My_shop_"`) {
		t.Errorf("%v\n%s", err, config)
	}
	c, err := configuration.Load(configuration.Sources{File: config, Name: "config.toml",
		Getenv: func(string) (string, bool) { return "", false }})
	if err != nil || len(c.Ignored) > 0 || len(c.Warnings) > 0 {
		t.Errorf("the template has keys without effect %v and warnings %v, %v", c.Ignored, c.Warnings, err)
	}
	if _, err := Init(Options{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "already exists; --force replaces it") {
		t.Errorf("a second init: %v", err)
	}
	seed := filepath.Join(dir, "supabase/seed.sql")
	if err := os.WriteFile(seed, []byte("select 1;"), 0o644); err != nil {
		t.Fatal(err)
	}
	written, err = Init(Options{Dir: dir, Force: true})
	if err != nil || !slices.Equal(written, []string{"supabase/config.toml"}) {
		t.Errorf("--force wrote %v, %v", written, err)
	}
	written, err = Init(Options{Dir: dir, Functions: true, Source: daawo.Source})
	if err != nil || !slices.Contains(written, "functions/hello/func.go") || !slices.Contains(written, "go.mod") {
		t.Errorf("--functions wrote %v, %v", written, err)
	}
	if slices.ContainsFunc(written, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") && strings.HasPrefix(name, Vendored)
	}) {
		t.Error("tests of the packages are written")
	}
	// A project with functions gets the packages of this release and keeps its functions.
	written, err = Init(Options{Dir: dir, Functions: true, Source: daawo.Source})
	if err != nil || slices.ContainsFunc(written,
		func(name string) bool { return !strings.HasPrefix(name, Vendored) }) {
		t.Errorf("the second --functions wrote %v, %v", written, err)
	}
}

package project

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"daawo"
	configuration "daawo/supabase/internal/base/config"
)

// TestSourceIsComplete checks that the carried source has every package of ours that a program of
// functions imports, and that modules.txt lists the modules that they need.
func TestSourceIsComplete(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "daawo/supabase/stack/child", "daawo/supabase/edgetest",
		"daawo/supabase/edge/supabaseclient")
	list.Env = append(os.Environ(), "GOFLAGS=") // a project is built without make's build tags
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := readModule(daawo.Source)
	if err != nil {
		t.Fatal(err)
	}
	var needed []string
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case module == stack.path:
			if _, err := fs.Stat(daawo.Source, strings.TrimPrefix(path, stack.path+"/")); err != nil {
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

// noVersion is Options.Version of a program that is no release.
func noVersion(string) string { return "" }

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
	written, err = Init(Options{Dir: dir, Functions: true, Source: daawo.Source, Version: noVersion})
	if err != nil || !slices.Contains(written, "functions/hello/func.go") || !slices.Contains(written, "go.mod") {
		t.Errorf("--functions wrote %v, %v", written, err)
	}
	if slices.ContainsFunc(written, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") && strings.HasPrefix(name, Vendored)
	}) {
		t.Error("tests of the packages are written")
	}
	// A project with functions gets the packages of this release and keeps its functions.
	written, err = Init(Options{Dir: dir, Functions: true, Source: daawo.Source, Version: noVersion})
	if err != nil || slices.ContainsFunc(written,
		func(name string) bool { return !strings.HasPrefix(name, Vendored) }) {
		t.Errorf("the second --functions wrote %v, %v", written, err)
	}
}

// TestInitRequires checks that a module with a host is required if Go can download its version, and
// copied otherwise. A module without a host is copied always.
func TestInitRequires(t *testing.T) {
	for _, c := range []struct {
		path, version string
		copied        bool
	}{
		{"example.org/x/stack", "v1.2.3", false},
		{"example.org/x/stack", "", true},
		{"stack", "v1.2.3", true},
	} {
		source := fstest.MapFS{}
		mod, err := fs.ReadFile(daawo.Source, "go.mod")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(mod), "\n")
		source["go.mod"] = &fstest.MapFile{Data: []byte("module " + c.path + "\n" + rest)}
		source["go.sum"] = &fstest.MapFile{}
		source["supabase/edge/edge.go"] = &fstest.MapFile{Data: []byte("package edge\n")}
		o := Options{Dir: t.TempDir(), Functions: true, Source: source, Version: func(module string) string {
			if module != c.path {
				t.Errorf("asked for the version of %s", module)
			}
			return c.version
		}}
		if _, err := Init(o); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(o.Dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(filepath.Join(o.Dir, Vendored, "supabase/edge/edge.go"))
		if copied := err == nil; copied != c.copied ||
			copied != strings.Contains(string(text), "\nreplace "+c.path+" => ./"+Vendored) {
			t.Errorf("%s %s: copied %v, want %v\n%s", c.path, c.version, copied, c.copied, text)
		}
		if required := strings.Contains(string(text), "\nrequire "+c.path+" "+c.version+"\n"); !c.copied && !required {
			t.Errorf("%s %s is not required:\n%s", c.path, c.version, text)
		}
		if _, err := Init(o); c.copied != (err == nil) {
			t.Errorf("%s %s: a second --functions: %v", c.path, c.version, err)
		}
	}
}

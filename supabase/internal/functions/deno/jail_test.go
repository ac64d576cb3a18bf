package deno

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/functions/jail"
)

// TestFunctionsAreJailed checks that functions import files of the project alone. Deno's own
// permissions do not concern the imports that a module names at its start.
func TestFunctionsAreJailed(t *testing.T) {
	if lacks := jail.Check(); lacks.Files != nil {
		t.Skip("this kernel has no jail:", lacks.Files)
	}
	outside, err := os.MkdirTemp("", "outside")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(outside) })
	importing := func(path string) string {
		return fmt.Sprintf(`import value from %q with { type: "json" }; Deno.serve(() => new Response(value.secret))`, path)
	}
	s, url := serving(t, Limits{}, map[string]string{
		"outside": importing(filepath.Join(outside, "keys.json")), "data": importing("../../../data/keys.json"),
		"hidden": importing("../../.env.json"), "inside": importing("../../../shared/text.json"),
	})
	home := filepath.Dir(s.Root)
	s.pool.Private = []string{filepath.Join(home, "data")}
	for _, file := range []string{filepath.Join(outside, "keys.json"), filepath.Join(home, "data", "keys.json"),
		filepath.Join(s.Root, ".env.json"), filepath.Join(home, "shared", "text.json")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(`{"secret": "read"}`), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"outside", "data", "hidden"} {
		if status, code, body := get(t, url+"/"+name); status != http.StatusServiceUnavailable || code != "BOOT_ERROR" ||
			!strings.Contains(body, "denied") {
			t.Errorf("%s: %d %s %s", name, status, code, body)
		}
	}
	if status, code, body := get(t, url+"/inside"); status != http.StatusOK || body != "read" {
		t.Errorf("inside: %d %s %s", status, code, body)
	}
	for _, pid := range s.alive() { // the drill typescript and operators find it by this name
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && string(name) != "deno\n" {
			t.Errorf("the process has the name %q", name)
		}
	}
}

// TestVisible checks which files of a project functions may read.
func TestVisible(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{".env", ".git/config", "shared/a.ts", "data/keys", "volumes/db/pg", "volumes/cdn/a",
		"supabase/.env", "supabase/config.toml", "supabase/functions/.env", "supabase/functions/a/index.ts"} {
		path := filepath.Join(home, filepath.FromSlash(file))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "data"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	s := &set{root: filepath.Join(home, "supabase")}
	got := s.visible([]string{filepath.Join(home, "data"), filepath.Join(home, "volumes", "db"), "/missing"})
	for i := range got {
		got[i], _ = filepath.Rel(home, got[i]) // all are below home
	}
	want := []string{"shared", "supabase/config.toml", "supabase/functions/a", "volumes/cdn"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s.files = "/bundle"
	if got := s.visible(nil); !slices.Equal(got, []string{"/bundle"}) {
		t.Errorf("of a bundle: %q", got)
	}
}

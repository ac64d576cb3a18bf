package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNew checks that a new function compiles, is formatted, and passes its own test and the test
// of the registry, and that invalid names are rejected.
func TestNew(t *testing.T) {
	root := t.TempDir()
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum", "functions", "supabase"} {
		if err := copyTree(filepath.Join(repo, name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	written, err := New(root, "send-reminder")
	if err != nil || len(written) != 3 {
		t.Fatal(written, err)
	}
	if _, err := New(root, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSMS(root, "send-sms"); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"gofmt", "-l", "functions"},
		{"go", "vet", "./functions/send-reminder", "./functions/hello", "./functions/send-sms"},
		{"go", "test", "./functions", "./functions/send-reminder", "./functions/hello", "./functions/send-sms"},
	} {
		c := exec.CommandContext(t.Context(), command[0], command[1:]...)
		c.Dir = root
		out, err := c.CombinedOutput()
		if err != nil || command[0] == "gofmt" && len(out) > 0 {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
	for _, bad := range []string{"send-reminder", "edge", "Hello", "a--b", "../x", "1st", "", "type", "range", "main",
		"init", "internal", "vendor", "testdata"} {
		if _, err := New(root, bad); err == nil {
			t.Errorf("New accepts the name %q", bad)
		}
		if _, err := os.Stat(filepath.Join(root, "functions", bad, "func.go")); bad != "send-reminder" && err == nil {
			t.Errorf("New rejects the name %q but leaves files", bad)
		}
	}
	if _, err := New(t.TempDir(), "x"); err == nil || !strings.Contains(err.Error(), "project") {
		t.Errorf("outside a project: %v", err)
	}
}

// TestNewTypeScript checks the files of a function in TypeScript, and that a name is not used in
// both languages.
func TestNewTypeScript(t *testing.T) {
	root := t.TempDir()
	if _, err := NewTypeScript(root, "hello"); err == nil || !strings.Contains(err.Error(), "daawo init") {
		t.Errorf("outside a project: %v", err)
	}
	for _, dir := range []string{"supabase", "functions/in-go"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	written, err := NewTypeScript(root, "hello")
	want := []string{"supabase/functions/hello/deno.json", "supabase/functions/hello/index.ts"}
	if err != nil || !slices.Equal(written, want) {
		t.Errorf("%q, %v", written, err)
	}
	text, err := os.ReadFile(filepath.Join(root, "supabase/functions/hello/index.ts"))
	if err != nil || !strings.Contains(string(text), "/functions/v1/hello.") {
		t.Errorf("%s, %v", text, err)
	}
	for name, part := range map[string]string{"hello": "already exists", "in-go": "in Go", "Bad": "cannot name"} {
		if _, err := NewTypeScript(root, name); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(root, "hello"); err == nil || !strings.Contains(err.Error(), "in TypeScript") {
		t.Errorf("the same name in Go: %v", err)
	}
}

func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

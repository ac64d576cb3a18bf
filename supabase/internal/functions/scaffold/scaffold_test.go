package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
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
	for _, command := range [][]string{
		{"gofmt", "-l", "functions"},
		{"go", "vet", "./functions/send-reminder", "./functions/hello"},
		{"go", "test", "./functions", "./functions/send-reminder", "./functions/hello"},
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

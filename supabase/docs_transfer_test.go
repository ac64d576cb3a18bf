package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsTransfer runs the lines of docs/docker.md that move the content into a new folder, as
// they are printed there.
func TestDocsTransfer(t *testing.T) {
	text, err := os.ReadFile("../docs/docker.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^daawo (export|migrate|import)\b.*$`).FindAllString(string(text), -1)
	if len(lines) < 3 {
		t.Fatalf("docs/docker.md has only %q", lines)
	}
	shell := newDocsShell(t)
	folder := filepath.Join(shell.dir, "new")
	script := strings.ReplaceAll(strings.Join(lines, "\n"), "/srv/daawo", folder)
	out, err := shell.run(t, script)
	if err != nil || !strings.Contains(out, "imported ") {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	if out, err := shell.run(t, "daawo export --data "+folder+" back.export"); err != nil ||
		!strings.Contains(out, "exported ") {
		t.Errorf("the new folder: %v\n%s", err, out)
	}
}

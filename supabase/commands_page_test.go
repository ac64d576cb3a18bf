package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommandsPage compares docs/commands.md with the commands. After a change of a command, run:
// bin/daawo help --markdown > docs/commands.md
func TestCommandsPage(t *testing.T) {
	want, err := exec.Command("daawo", "help", "--markdown").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/commands.md is not up to date: bin/daawo help --markdown > docs/commands.md\n%s", diff)
	}
}

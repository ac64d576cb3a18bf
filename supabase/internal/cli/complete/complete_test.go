package complete_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/cli/complete"
)

var commands = []complete.Command{
	{Path: []string{"start"}, Short: "Serve the user's site",
		Flags: []complete.Flag{{Name: "--port", Short: "port: of the site", Value: true},
			{Name: "-x", Short: "services", Value: true}}},
	{Path: []string{"db"}, Short: "The database"},
	{Path: []string{"db", "diff"}, Short: "Compare",
		Flags: []complete.Flag{{Name: "--file", Short: "name", Value: true}}},
	{Path: []string{"db", "dump"}, Short: "Dump"},
	{Path: []string{"gen"}, Short: "Types"},
}

// TestBash completes lines in bash.
func TestBash(t *testing.T) {
	script := filepath.Join(t.TempDir(), "daawo.bash")
	if err := os.WriteFile(script, []byte(complete.Bash("daawo", commands)), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"daawo ":             "start db gen",
		"daawo s":            "start",
		"daawo d":            "db",
		"daawo db ":          "diff dump",
		"daawo db du":        "dump",
		"daawo db diff --":   "--file",
		"daawo db diff x --": "--file",
		"daawo start --p":    "--port",
		"daawo start now --": "--port",
		"daawo frobnicate x": "",
	} {
		words := strings.Split(line, " ")
		c := exec.Command("bash", append([]string{"-c",
			`. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _daawo; echo "${COMPREPLY[*]}"`, "bash", script},
			words...)...)
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %q, want %q, %v", line, got, want, err)
		}
	}
}

// TestOtherShells checks that the scripts have each command with its text, quoted.
func TestOtherShells(t *testing.T) {
	zsh, fish := complete.Zsh("daawo", commands), complete.Fish("daawo", commands)
	for _, want := range []string{"#compdef daawo\n", `'start:Serve the user'\''s site'`,
		`'db diff') list=( '--file:name' ) ;;`, `'db'|'db '*) list=( 'diff:Compare' 'dump:Dump' ) ;;`} {
		if !strings.Contains(zsh, want) {
			t.Errorf("zsh: no %q in\n%s", want, zsh)
		}
	}
	for _, want := range []string{
		`complete -c daawo -n '__fish_use_subcommand' -a start -d 'Serve the user'\''s site'`,
		`complete -c daawo -n '__fish_seen_subcommand_from db' -a diff -d 'Compare'`,
		`complete -c daawo -n '__fish_seen_subcommand_from db; and __fish_seen_subcommand_from diff' -l file -r -d 'name'`,
		`-n '__fish_seen_subcommand_from start' -s x -r -d 'services'`,
	} {
		if !strings.Contains(fish, want) {
			t.Errorf("fish: no %q in\n%s", want, fish)
		}
	}
}

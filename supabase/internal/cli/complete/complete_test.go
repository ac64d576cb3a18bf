package complete_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// lines are lines and the words that complete the last one of each.
var lines = map[string]string{
	"daawo ":             "db gen start",
	"daawo s":            "start",
	"daawo d":            "db",
	"daawo db ":          "diff dump",
	"daawo db du":        "dump",
	"daawo db diff --":   "--file",
	"daawo db diff x --": "--file",
	"daawo start --p":    "--port",
	"daawo start now --": "--port",
	"daawo frobnicate x": "",
}

// checkCompletion compares the completions of lines by a shell. run returns the output of the shell
// for a line, one word in each line.
func checkCompletion(t *testing.T, shell, script string, run func(file, line string) *exec.Cmd) {
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed: %v", shell, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "_daawo"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir() // shells also complete names of files
	for line, want := range lines {
		c := run(filepath.Join(dir, "_daawo"), line)
		c.Dir, c.Env = empty, append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
		out, err := c.CombinedOutput()
		words := strings.Fields(string(out))
		slices.Sort(words)
		if got := strings.Join(words, " "); err != nil || got != want {
			t.Errorf("%q: %q, want %q, %v", line, got, want, err)
		}
	}
}

// TestBash completes lines in bash.
func TestBash(t *testing.T) {
	checkCompletion(t, "bash", complete.Bash("daawo", commands), func(file, line string) *exec.Cmd {
		return exec.Command("bash", append([]string{"-c",
			`. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _daawo; printf '%s\n' "${COMPREPLY[@]}"`, "bash", file},
			strings.Split(line, " ")...)...)
	})
}

// TestFish completes lines in fish.
func TestFish(t *testing.T) {
	checkCompletion(t, "fish", complete.Fish("daawo", commands), func(file, line string) *exec.Cmd {
		return exec.Command("fish", "--no-config", "-c",
			`source $argv[1]; complete -C $argv[2] | string replace -r '\t.*' ''; true`, file, line)
	})
}

// zshScript types a line and a tab into an interactive zsh on a terminal of its own. compadd, which
// gets the candidates, prints those that match.
const zshScript = `
zmodload zsh/zpty
zpty shell zsh -f -i
type() { zpty -w shell "$1"; }
type "PROMPT=; fpath=(${1:h} \$fpath); autoload -Uz compinit; compinit -u -d ${1:h}/dump; bindkey '^I' complete-word"
type 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a matches; builtin compadd -A matches "$@"
  local m; for m in $matches; do print -r -- "match:$m:"; done
}
finish() { print -r -- "the:end"; exit }
comppostfuncs=(finish); print ready:"go"'
zpty -r shell out $'*ready:go*'
zpty -n -w shell "$2"$'\t'
zpty -r shell out $'*the:end*'
print -r -- $out | sed -n 's/.*match:\(.*\):.*/\1/p' | sort -u
`

// TestZsh completes lines in zsh.
func TestZsh(t *testing.T) {
	checkCompletion(t, "zsh", complete.Zsh("daawo", commands), func(file, line string) *exec.Cmd {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		t.Cleanup(cancel)
		return exec.CommandContext(ctx, "zsh", "-f", "-c", zshScript, "zsh", file, line)
	})
}

// TestOtherShells checks that the scripts have each command with its text, quoted.
func TestOtherShells(t *testing.T) {
	zsh, fish := complete.Zsh("daawo", commands), complete.Fish("daawo", commands)
	for _, want := range []string{"#compdef daawo\n", `'start:Serve the user'\''s site'`,
		`'db diff') list=( ) flags=( '--file:name' ) ;;`, `'db'|'db '*) list=( 'diff:Compare' 'dump:Dump' ) flags=( ) ;;`} {
		if !strings.Contains(zsh, want) {
			t.Errorf("zsh: no %q in\n%s", want, zsh)
		}
	}
	for _, want := range []string{
		`complete -c daawo -n '__fish_use_subcommand' -a start -d 'Serve the user'\''s site'`,
		`complete -c daawo -n '__fish_seen_subcommand_from db; and not __fish_seen_subcommand_from diff dump' -a diff -d 'Compare'`,
		`complete -c daawo -n '__fish_seen_subcommand_from db; and __fish_seen_subcommand_from diff' -l file -r -d 'name'`,
		`-n '__fish_seen_subcommand_from start' -s x -r -d 'services'`,
	} {
		if !strings.Contains(fish, want) {
			t.Errorf("fish: no %q in\n%s", want, fish)
		}
	}
}

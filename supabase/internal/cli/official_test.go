package cli

import (
	"context"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// officialRow is a line of the table in docs/official-cli.md.
type officialRow struct{ here, differs string }

// officialTable reads the table, by the name of the official command.
func officialTable(t *testing.T) map[string]officialRow {
	t.Helper()
	text, err := os.ReadFile("../../../docs/official-cli.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Commands")
	names := regexp.MustCompile("`([^`]+)`")
	rows := map[string]officialRow{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, name := range names.FindAllStringSubmatch(cells[1], -1) {
			here := ""
			if m := names.FindStringSubmatch(cells[2]); m != nil {
				here = m[1]
			}
			rows[name[1]] = officialRow{here, cells[3]}
		}
	}
	return rows
}

// TestOfficialCommands compares the table with the commands of the official CLI, and with ours:
// each is in the table, and a flag that the table does not name is accepted.
func TestOfficialCommands(t *testing.T) {
	rows := officialTable(t)
	list, err := os.ReadFile("testdata/official-commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	commands := 0
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		var path, flags []string
		for _, w := range words {
			if strings.HasPrefix(w, "-") {
				flags = append(flags, strings.TrimLeft(w, "-"))
			} else {
				path = append(path, w)
			}
		}
		commands++
		name := strings.Join(path, " ")
		row, ok := rows[name]
		for n := len(path) - 1; n > 0 && !ok; n-- { // a command that is not here has no rows for its verbs
			if above, found := rows[strings.Join(path[:n], " ")]; found && above.here == "" {
				row, ok, name = above, true, strings.Join(path[:n], " ")
			}
		}
		if !ok {
			if !hasVerbs(string(list), name) {
				t.Errorf("the table has no %q", name)
			}
			continue
		}
		used[name] = true
		if row.here == "" {
			continue
		}
		ours := flagsOf(strings.Fields(row.here)...)
		if ours == nil {
			t.Errorf("%s: there is no command %q", name, row.here)
			continue
		}
		for _, f := range flags {
			if ours.Lookup(f) == nil && !strings.Contains(row.differs, "`"+dashed(f)+"`") {
				t.Errorf("%s: neither the command nor the table has %s", name, dashed(f))
			}
		}
	}
	for name := range rows {
		if !used[name] {
			t.Errorf("the official CLI has no %q", name)
		}
	}
	if commands < 80 {
		t.Errorf("only %d commands: is the list whole?", commands)
	}
}

// hasVerbs reports whether a list of commands has verbs of one.
func hasVerbs(list, name string) bool {
	for line := range strings.Lines(list) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok && !strings.HasPrefix(rest, "-") {
			return true
		}
	}
	return false
}

// flagsOf returns the flags of a command, nil if there is none. Flags in the words are left out.
func flagsOf(words ...string) (flags *flag.FlagSet) {
	var args []string
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			args = append(args, w)
		}
	}
	env := &Env{Name: defaultName, Stdout: io.Discard, Stderr: io.Discard,
		onHelp: func(inv *Invocation) { flags = inv.flags }}
	env.Args = append(args, "--help")
	_ = run(context.Background(), env) // flag.ErrHelp
	return flags
}

// TestCommandTable checks that every command and verb says what it does, and that --help has no
// other effect.
func TestCommandTable(t *testing.T) {
	env := &Env{Name: defaultName}
	env.list = env.commands()
	seen := map[string]bool{}
	env.eachHelp(t.Context(), func(path []string, inv *Invocation) {
		seen[strings.Join(path, " ")] = true
		if inv.command.Short == "" || strings.HasSuffix(inv.command.Short, ".") {
			t.Errorf("%v: short text %q", path, inv.command.Short)
		}
	})
	for _, c := range env.list {
		for _, name := range append([]string{""}, verbNames(c)...) {
			if full := strings.TrimSpace(c.Name + " " + name); !seen[full] {
				t.Errorf("%s: --help does not print the help", full)
			}
		}
	}
}

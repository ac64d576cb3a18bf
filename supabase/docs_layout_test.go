package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDocsLineLength keeps prose readable in a terminal. Tables and code blocks may be wider.
func TestDocsLineLength(t *testing.T) {
	const most = 120
	for _, p := range pages(t) {
		if p.name == "docs/configuration.md" || strings.HasPrefix(p.name, "web/") {
			continue // supabase/internal/config generates the first
		}
		code := false
		number := 0
		for line := range strings.Lines(p.text) {
			number++
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(line, "```") {
				code = !code
				continue
			}
			if n := utf8.RuneCountInString(line); n > most && !code && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d columns, more than %d", p.name, number, n, most)
			}
		}
	}
}

// TestReadmeFirstScreen checks that the first 40 lines sell the stack: name, claim, install, three commands, and the start of
// the compatibility table.
func TestReadmeFirstScreen(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	screen := page{"README.md", strings.Join(lines[:min(40, len(lines))], "")}
	for _, want := range []struct{ what, pattern string }{
		{"name", `\A# Daawo\n`},
		{"claim", `(?m)^\*\*Supabase in one Go binary: .*no Docker\.\*\*`},
		{"install line", `(?m)^tar -xzf daawo-\S+\.tar\.gz`},
		{"list of features", `(?m)(^- \*\*.*\n(  .*\n)*){6}`},
		{"compatibility table", `(?m)^## Compared with Supabase\n\n\| part \|.*\n\|[-|]+\n\| `},
	} {
		if !regexp.MustCompile(want.pattern).MatchString(screen.text) {
			t.Errorf("the first 40 lines of README.md have no %s", want.what)
		}
	}
	commands := 0
	for _, block := range screen.shellBlocks() {
		for _, command := range block {
			if strings.HasPrefix(command, "./daawo ") {
				commands++
			}
		}
	}
	if commands != 3 {
		t.Errorf("the first 40 lines of README.md have %d commands of the program, not three", commands)
	}
}

// TestDocsKeepEvidenceApart checks that a page with evidence links to it, and names no test itself.
func TestDocsKeepEvidenceApart(t *testing.T) {
	all := map[string]string{}
	for _, p := range pages(t) {
		all[p.name] = p.text
	}
	found := 0
	for name := range all {
		base, ok := strings.CutPrefix(name, "docs/evidence/")
		if !ok || base == "README.md" {
			continue
		}
		found++
		guide := all["docs/"+base]
		if !strings.Contains(guide, "(evidence/"+base) {
			t.Errorf("docs/%s does not link to %s", base, name)
		}
		for _, test := range testNamed.FindAllString(guide, -1) {
			t.Errorf("docs/%s names %s, which belongs in %s", base, test, name)
		}
		for _, part := range []string{"## Guide", "## Reference"} {
			if !strings.Contains(guide, "\n"+part+"\n") {
				t.Errorf("docs/%s has no part %q", base, part)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d pages of evidence were found", found)
	}
}

package housetest

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDocsLineLength keeps prose readable in a terminal. Tables and code blocks may be wider.
func TestDocsLineLength(t *testing.T) {
	for _, p := range pages(t) {
		if p.name == "docs/configuration.md" || strings.HasPrefix(p.name, "web/") {
			continue // supabase/internal/base/config generates the first
		}
		for _, line := range longLines(p.text) {
			t.Errorf("%s has more than %d columns: %s", p.name, maxColumns, line)
		}
	}
}

const maxColumns = 120

// longLines returns the prose lines of more than maxColumns characters.
func longLines(text string) (long []string) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > maxColumns {
			long = append(long, line)
		}
	}
	return long
}

func TestLongLines(t *testing.T) {
	most, more := strings.Repeat("é", maxColumns), strings.Repeat("x", maxColumns+1)
	text := most + "\n| " + more + " |\n```sh\n" + more + "\n```\n" + more + "\n"
	if got := longLines(text); len(got) != 1 || got[0] != more {
		t.Errorf("%q", got)
	}
}

// TestReadmeFirstScreen checks the content of the first 40 lines: name, claim, install line, three
// commands, and the start of the compatibility table.
func TestReadmeFirstScreen(t *testing.T) {
	lines := strings.SplitAfter(read(t, "README.md"), "\n")
	screen := strings.Join(lines[:min(40, len(lines))], "")
	for _, want := range []struct{ what, pattern string }{
		{"name", `\A# Daawo\n`},
		{"claim", `(?m)^\*\*A Supabase-compatible backend in one Go binary: .*no Docker\.\*\*`},
		{"install line", `(?m)^tar -xzf daawo-\S+\.tar\.gz`},
		{"statement about Supabase", `not affiliated with Supabase`},
		{"project of the reader", `(?m)^daawo init shop && cd shop`},
		{"list of features", `(?m)(^- \*\*.*\n(  .*\n)*){6}`},
		{"compatibility table", `(?m)^## Compared with Supabase\n\n\| part \|.*\n\|[-|]+\n\| `},
	} {
		if !regexp.MustCompile(want.pattern).MatchString(screen) {
			t.Errorf("the first 40 lines of README.md have no %s", want.what)
		}
	}
	if n := len(regexp.MustCompile(`(?m)^daawo `).FindAllString(screen, -1)); n != 3 {
		t.Errorf("the first 40 lines of README.md have %d commands of the program, not three", n)
	}
}

// TestDocsKeepEvidenceApart checks that a page with evidence links to it and names no test itself.
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

package housetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const decisionsFolder = "docs/decisions/"

// decision is a record of docs/decisions.
type decision struct {
	file, number, title, date, status string
	successor, predecessor            string // files of other records, or ""
}

var (
	decisionFile   = regexp.MustCompile(`^(\d{3})-[a-z0-9]+(-[a-z0-9]+)*\.md$`)
	decisionHead   = regexp.MustCompile(`\A# (\d{3}): (.+)\n\n- Date: (\S+)\n- Status: (.+)\n(?:- Supersedes: (.+)\n)?\n## Context\n`)
	supersededBy   = regexp.MustCompile(`^superseded by \[(\d{3})\]\((\S+)\)$`)
	supersededLink = regexp.MustCompile(`^\[(\d{3})\]\((\S+)\)$`)
)

// parseDecision reads the head of a record.
func parseDecision(file, text string) (decision, error) {
	name, head := decisionFile.FindStringSubmatch(file), decisionHead.FindStringSubmatch(text)
	if name == nil {
		return decision{}, fmt.Errorf("%s: the name is not NNN-title.md", file)
	}
	if head == nil {
		return decision{}, fmt.Errorf("%s: the head is not number and title, date, status, context", file)
	}
	d := decision{file: file, number: head[1], title: head[2], date: head[3], status: head[4]}
	if d.number != name[1] {
		return d, fmt.Errorf("%s: the title has the number %s", file, d.number)
	}
	if _, err := time.Parse(time.DateOnly, d.date); err != nil {
		return d, fmt.Errorf("%s: %w", file, err)
	}
	if m := supersededBy.FindStringSubmatch(d.status); m != nil && strings.HasPrefix(m[2], m[1]+"-") {
		d.successor = m[2]
	} else if d.status != "accepted" {
		return d, fmt.Errorf("%s: the status %q is neither accepted nor superseded by a record", file, d.status)
	}
	if m := supersededLink.FindStringSubmatch(head[5]); m != nil && strings.HasPrefix(m[2], m[1]+"-") {
		d.predecessor = m[2]
	} else if head[5] != "" {
		return d, fmt.Errorf("%s: it supersedes %q, which is no record", file, head[5])
	}
	for _, part := range []string{"\n## Decision\n", "\n## Consequences\n"} {
		if !strings.Contains(text, part) {
			return d, fmt.Errorf("%s: it has no part %q", file, strings.TrimSpace(part))
		}
	}
	return d, nil
}

// checkDecisions returns what is wrong with numbers and with links between records.
func checkDecisions(all []decision) (wrong []string) {
	byFile := map[string]decision{}
	for i, d := range all {
		byFile[d.file] = d
		if want := fmt.Sprintf("%03d", i+1); d.number != want {
			wrong = append(wrong, fmt.Sprintf("%s: the next number is %s", d.file, want))
		}
	}
	for _, d := range all {
		if next := byFile[d.successor]; d.successor != "" && (next.predecessor != d.file || next.date < d.date) {
			wrong = append(wrong, fmt.Sprintf("%s: no later record %s supersedes it", d.file, d.successor))
		}
		if d.predecessor != "" && byFile[d.predecessor].successor != d.file {
			wrong = append(wrong, fmt.Sprintf("%s: the status of %s does not name it", d.file, d.predecessor))
		}
	}
	return wrong
}

// row returns the line of the index for a record.
func (d decision) row() string {
	return fmt.Sprintf("| [%s: %s](%s) | %s | %s |\n", d.number, d.title, d.file, d.date, d.status)
}

// TestDecisions checks the head of each record, the links between records, and the index.
func TestDecisions(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root(t), decisionsFolder))
	if err != nil {
		t.Fatal(err)
	}
	var all []decision
	for _, entry := range entries {
		if entry.Name() == "README.md" {
			continue
		}
		d, err := parseDecision(entry.Name(), read(t, decisionsFolder+entry.Name()))
		if err != nil {
			t.Error(err)
		}
		all = append(all, d)
	}
	for _, v := range checkDecisions(all) {
		t.Error(v)
	}
	index := read(t, decisionsFolder+"README.md")
	rows := regexp.MustCompile(`(?m)^\| \[\d.*\n`).FindAllString(index, -1)
	for i, d := range all {
		if i >= len(rows) || rows[i] != d.row() {
			t.Errorf("%sREADME.md: row %d should be %s", decisionsFolder, i+1, d.row())
		}
	}
	if len(rows) != len(all) || len(all) < 15 {
		t.Errorf("%d rows in the index for %d records", len(rows), len(all))
	}
}

func TestParseDecision(t *testing.T) {
	const parts = "\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\nc\n"
	head := func(s string) string { return s + parts }
	good, err := parseDecision("002-b.md", head("# 002: B\n\n- Date: 2026-11-21\n"+
		"- Status: superseded by [003](003-c.md)\n- Supersedes: [001](001-a.md)\n"))
	if err != nil || good.successor != "003-c.md" || good.predecessor != "001-a.md" || good.title != "B" {
		t.Errorf("%+v %v", good, err)
	}
	for _, c := range []struct{ file, text string }{
		{"2-b.md", head("# 002: B\n\n- Date: 2026-11-21\n- Status: accepted\n")},
		{"003-b.md", head("# 002: B\n\n- Date: 2026-11-21\n- Status: accepted\n")},
		{"002-b.md", head("# 002: B\n\n- Status: accepted\n")},
		{"002-b.md", head("# 002: B\n\n- Date: 21 November\n- Status: accepted\n")},
		{"002-b.md", head("# 002: B\n\n- Date: 2026-11-31\n- Status: accepted\n")},
		{"002-b.md", head("# 002: B\n\n- Date: 2026-11-21\n- Status: proposed\n")},
		{"002-b.md", head("# 002: B\n\n- Date: 2026-11-21\n- Status: superseded by [004](003-c.md)\n")},
		{"002-b.md", head("# 002: B\n\n- Date: 2026-11-21\n- Status: accepted\n- Supersedes: the first\n")},
		{"002-b.md", "# 002: B\n\n- Date: 2026-11-21\n- Status: accepted\n\n## Context\n\na\n"},
	} {
		if d, err := parseDecision(c.file, c.text); err == nil {
			t.Errorf("%s: %+v", c.text, d)
		}
	}
}

func TestCheckDecisions(t *testing.T) {
	a := decision{file: "001-a.md", number: "001", date: "2026-11-21", status: "x", successor: "002-b.md"}
	b := decision{file: "002-b.md", number: "002", date: "2026-11-22", status: "accepted", predecessor: "001-a.md"}
	if wrong := checkDecisions([]decision{a, b}); wrong != nil {
		t.Error(wrong)
	}
	alone, early, gap := a, b, b
	alone.successor, early.date, gap.number = "", "2026-11-20", "003"
	for name, all := range map[string][]decision{
		"no status": {alone, b}, "no record": {a}, "earlier": {a, early}, "number": {a, gap},
	} {
		if wrong := checkDecisions(slices.Clone(all)); len(wrong) != 1 {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

package admin

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 8, 31, 12, 0, 0, 0, time.Local)
	for in, want := range map[string]time.Time{
		"2026-08-01": time.Date(2026, 8, 1, 0, 0, 0, 0, time.Local), "48h": now.Add(-48 * time.Hour),
		"7d": now.AddDate(0, 0, -7),
	} {
		if got, err := parseSince(in, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v %v, want %v", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "soon", "-1h", "7days", "-7d", "2026-13-01"} {
		if got, err := parseSince(bad, now); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// Text from the site must not send control sequences to the reviewer's terminal.
func TestPrintRemovesControlCharacters(t *testing.T) {
	evil := "x\x1b]0;owned\x07\x1b[2J\u009b31my\nsecond line"
	r := Report{Reference: "DW-7K3M-9QXA", ProductName: evil, IssueDescription: evil, Location: &evil,
		ReviewerNotes: &evil}
	var full, list strings.Builder
	if err := printReport(&full, r, ""); err != nil {
		t.Fatal(err)
	}
	if err := printReports(&list, []Report{r}); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{full.String(), list.String()} {
		if strings.ContainsAny(out, "\x1b\x07\u009b") || !strings.Contains(out, "DW-7K3M-9QXA") {
			t.Errorf("%q", out)
		}
	}
	if strings.Count(list.String(), "\n") != 2 {
		t.Errorf("a product's line end breaks the list: %q", list.String())
	}
	if !strings.Contains(full.String(), "second line") {
		t.Error("the description lost its second line")
	}
}

// photo_link in the JSON is an address or absent; programs rely on it.
func TestReportWithoutPhotoLink(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		var out, diagnostics strings.Builder
		if err := printShown(&out, &diagnostics, Report{Reference: "DW-7K3M-9QXA"}, "",
			errors.New("storage is unreachable"), asJSON); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "storage is unreachable") == asJSON ||
			strings.Contains(out.String(), "photo_link") {
			t.Errorf("JSON %v: %s", asJSON, out.String())
		}
		if strings.Contains(diagnostics.String(), "storage is unreachable") != asJSON {
			t.Errorf("JSON %v, diagnostics: %s", asJSON, diagnostics.String())
		}
	}
}

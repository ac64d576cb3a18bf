package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"daawo/functions"
	"daawo/supabase/internal/admin"
)

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 8, 31, 12, 0, 0, 0, time.Local)
	for in, want := range map[string]time.Time{
		"2026-08-01": time.Date(2026, 8, 1, 0, 0, 0, 0, time.Local), "48h": now.Add(-48 * time.Hour), "7d": now.AddDate(0, 0, -7),
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

// A visitor's text must not command the reviewer's terminal.
func TestReportsArePrintedWithoutControlCharacters(t *testing.T) {
	evil := "x\x1b]0;owned\x07\x1b[2J\u009b31my\nsecond line"
	r := admin.Report{Reference: "DW-7K3M-9QXA", ProductName: evil, IssueDescription: evil, Location: &evil, ReviewerNotes: &evil}
	var full, list strings.Builder
	if err := printReport(&full, r, ""); err != nil {
		t.Fatal(err)
	}
	if err := printReports(&list, []admin.Report{r}); err != nil {
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

func TestConfirmTakesOnlyAYes(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yeah\n": false} {
		inv := &invocation{Env: &Env{Stdin: strings.NewReader(answer), Stderr: &strings.Builder{}}}
		if inv.confirm(t.Context(), "?") != want {
			t.Errorf("%q", answer)
		}
	}
}

func TestCommandsWithVerbs(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"functions list":                          {0, "submit-report"},
		"functions":                               {2, "usage"},
		"functions new":                           {2, "usage"},
		"functions new Bad_Name":                  {1, "cannot name a function"},
		"reports":                                 {2, "usage"},
		"reports show":                            {2, "usage"},
		"reports list --since never":              {2, "neither a day"},
		"reports set DW-7K3M-9QXA":                {2, "say what to change"},
		"reports list --data /nonexistent/folder": {1, "no server is running"},
		"resources add --title X":                 {2, "needs --title and --category"},
		"resources edit X":                        {2, "say what to change"},
		"notify":                                  {2, "usage"},
		"doctor --dev":                            {2, "not defined: -dev"},
		"functions serve --dev":                   {2, "not defined: -dev"},
		"migrate --dev":                           {2, "not defined: -dev"},
		"start --help":                            {0, "--dev"},
		"gen":                                     {2, "usage"},
		"gen typescript":                          {2, "usage"},
		"gen --help":                              {0, "supabase-js"},
		"reports --help":                          {0, "delete REFERENCE"},
	} {
		var out strings.Builder
		code := Main(context.Background(), Env{
			Args: strings.Fields(line), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Functions: functions.All, Project: fstest.MapFS{},
			Getenv: func(string) (string, bool) { return "", false }, Version: "test",
		})
		if code != want.code || !strings.Contains(out.String(), want.says) {
			t.Errorf("%s: %d %s, want %d and %q", line, code, out.String(), want.code, want.says)
		}
	}
}

// TestAReportWhosePhotoHasNoLink: a program takes what is in photo_link for an address.
func TestAReportWhosePhotoHasNoLink(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		var out, said strings.Builder
		inv := &invocation{Env: &Env{Stdout: &out, Stderr: &said}}
		if err := inv.printShown(admin.Report{Reference: "DW-7K3M-9QXA"}, "", errors.New("storage is away"), asJSON); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "storage is away") == asJSON || strings.Contains(out.String(), "photo_link") {
			t.Errorf("JSON %v: %s", asJSON, out.String())
		}
		if strings.Contains(said.String(), "storage is away") != asJSON {
			t.Errorf("JSON %v, beside: %s", asJSON, said.String())
		}
	}
}

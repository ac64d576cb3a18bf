package migrate

import "testing"

// TestSuggested checks the name that is suggested for a skipped migration.
func TestSuggested(t *testing.T) {
	for file, want := range map[string]string{
		"migrations/notes.sql":                "migrations/20260101000000_notes.sql",
		"migrations/20260901000000-notes.sql": "migrations/20260901000000_notes.sql",
		"migrations/20260901000000.sql":       "migrations/20260901000000_name.sql",
	} {
		got := Suggested(file)
		if got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
		if fileName.FindString(got[len("migrations/"):]) == "" {
			t.Errorf("%s: Read skips the suggested %s, too", file, got)
		}
	}
}

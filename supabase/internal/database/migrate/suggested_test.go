package migrate

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSkipped checks the names that are suggested for skipped migrations: each is a version of its
// own that no migration has.
func TestSkipped(t *testing.T) {
	project := fstest.MapFS{}
	for _, name := range []string{
		"20260101000000_todos.sql", "20261123101500_taken.sql",
		"nots.sql", "draft.sql", "20260901000000-notes.sql", "20260901000001.sql", "20260101000000-again.sql",
	} {
		project["migrations/"+name] = &fstest.MapFile{}
	}
	got := map[string]string{}
	for _, s := range Skipped(project, time.Date(2026, 11, 23, 10, 15, 0, 0, time.UTC)) {
		got[s.File] = s.RenameTo
		if fileName.FindString(s.RenameTo[len("migrations/"):]) == "" {
			t.Errorf("%s: Read skips the suggested %s, too", s.File, s.RenameTo)
		}
	}
	want := map[string]string{
		"migrations/20260101000000-again.sql": "migrations/20261123101501_again.sql",
		"migrations/20260901000000-notes.sql": "migrations/20260901000000_notes.sql",
		"migrations/20260901000001.sql":       "migrations/20260901000001_name.sql",
		"migrations/draft.sql":                "migrations/20261123101502_draft.sql",
		"migrations/nots.sql":                 "migrations/20261123101503_nots.sql",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

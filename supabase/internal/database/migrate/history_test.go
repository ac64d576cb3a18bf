package migrate_test

import (
	"strings"
	"testing"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
)

// TestSameVersion checks that two files with one version are an error that names both.
func TestSameVersion(t *testing.T) {
	files := project(map[string]string{"migrations/1_a.sql": "create table a ()",
		"migrations/1_b.sql": "create table b ()"})
	db := testdb.New(t)
	conn := db.Conn("postgres")
	_, applyErr := migrate.Apply(t.Context(), conn, files)
	_, pendingErr := migrate.Pending(t.Context(), conn, files)
	for _, err := range []error{applyErr, pendingErr} {
		if err == nil || !strings.Contains(err.Error(), "migrations/1_a.sql and migrations/1_b.sql") {
			t.Errorf("got error %v, want one that names both files", err)
		}
	}
	if got := tables(db); got != "" {
		t.Errorf("tables %q, want none", got)
	}
}

// TestCompare checks that recorded migrations that changed or vanished are named.
func TestCompare(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	files := map[string]string{
		"migrations/1_same.sql":    "create table a ();\n\ncreate table b ();\n",
		"migrations/2_changed.sql": "create table c ()",
		"migrations/3_gone.sql":    "create table d ()",
		"migrations/4_renamed.sql": "create table e ()",
		"migrations/5_bare.sql":    "create table f ()",
	}
	compare := func() []string {
		t.Helper()
		d, err := migrate.Compare(t.Context(), conn, project(files))
		if err != nil {
			t.Fatal(err)
		}
		return d.Warnings()
	}
	if got := compare(); got != nil {
		t.Errorf("before the first migration: %q", got)
	}
	if _, err := migrate.Apply(t.Context(), conn, project(files)); err != nil {
		t.Fatal(err)
	}
	if got := compare(); got != nil {
		t.Errorf("unchanged: %q", got)
	}
	files["migrations/1_same.sql"] = "create table a ();\r\ncreate table b ()" // the same statements
	files["migrations/2_changed.sql"] = "create table c (id int)"
	delete(files, "migrations/3_gone.sql")
	files["migrations/4_other.sql"] = files["migrations/4_renamed.sql"]
	delete(files, "migrations/4_renamed.sql")
	db.Exec(`update supabase_migrations.schema_migrations set statements = null where version = '5'`) // by an older CLI
	files["migrations/5_bare.sql"] = "create table g ()"
	want := []string{
		"migrations/2_changed.sql has changed since it was applied, and the change has no effect: " +
			"write a new migration, or apply all again with `daawo db reset`",
		"the database has migration 3_gone, but its file is missing: restore it with `daawo migration fetch`, " +
			"or forget it with `daawo migration repair --status reverted 3`",
	}
	if diff := cmp.Diff(want, compare()); diff != "" {
		t.Error(diff)
	}
}

package jobs

import (
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestStartOnFullDisk checks that Start and Close succeed while the database accepts no writes, and
// that work starts when it does again.
func TestStartOnFullDisk(t *testing.T) {
	tdb := testdb.New(t)
	newOutbox(t, tdb, Options{}, nil, false)
	tdb.ExecAs("supabase_admin", `alter database `+tdb.Name+` set default_transaction_read_only = on`)
	b := newOutbox(t, tdb, Options{}, nil, true)
	if err := b.Close(t.Context()); err != nil || b.work != nil {
		t.Errorf("it works on a full disk: %v, %v", b.work, err)
	}
	b = newOutbox(t, tdb, Options{}, nil, true)
	tdb.ExecAs("supabase_admin", `begin read write; alter database `+tdb.Name+
		` reset default_transaction_read_only; commit`)
	b.DB.Pgx().Reset() // the setting applies to new connections
	waitFor(t, "a leader", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_leader`) == 1
	})
}

// TestMigrateRestoresGrants checks that Migrate adds grants that are missing after an interrupted
// migration.
func TestMigrateRestoresGrants(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for _, lost := range []string{"usage on schema river", "insert on river.river_job",
		"usage on sequence river.river_job_id_seq"} {
		tdb.Exec(`revoke ` + lost + ` from service_role`)
		if err := b.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var complete bool
		if err := b.DB.Pgx().QueryRow(t.Context(), finished).Scan(&complete); err != nil || !complete {
			t.Errorf("%s is not granted again: %v", lost, err)
		}
		send(t, b, b.addNotice)
	}
}

// TestMigrated checks that Migrated finds each part that Migrate would create.
func TestMigrated(t *testing.T) {
	for name, lose := range map[string]string{
		"nothing":          ``,
		"the search path":  `alter function river.river_job_state_in_bitmask reset search_path`,
		"the schema":       `drop schema river cascade`,
		"the jobs":         `drop table river.river_job cascade`,
		"the last version": `delete from river.river_migration where version = (select max(version) from river.river_migration)`,
		"a grant":          `revoke insert on river.river_job from service_role`,
	} {
		tdb := testdb.New(t)
		newOutbox(t, tdb, Options{}, nil, false)
		tdb.ExecAs("supabase_admin", lose)
		if done, err := Migrated(t.Context(), tdb.Conn("postgres")); err != nil || done != (lose == "") {
			t.Errorf("without %s: %v, %v", name, done, err)
		}
	}
}

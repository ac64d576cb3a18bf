package migrate_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/testdb"
)

// TestBucketLifecycleIsProtected checks the columns of storage-api that other roles must not
// change.
func TestBucketLifecycleIsProtected(t *testing.T) {
	db := testdb.New(t)
	db.Exec(`create policy all_buckets on storage.buckets to authenticated using (true) with check (true);
		insert into storage.buckets (id, name) values ('notes', 'notes')`)
	conn := db.Conn("postgres")
	const (
		rules = `'{"rules": [{}]}', '00000000-0000-4000-8000-000000000001'`
		set   = `update storage.buckets set (lifecycle_configuration, lifecycle_configuration_generation) = `
	)
	for _, tt := range []struct{ role, sql, code, constraint string }{
		{"authenticated", `insert into storage.buckets (id, name, lifecycle_configuration, lifecycle_configuration_generation) values ('a', 'a', ` + rules + `)`, "42501", ""},
		{"service_role", `insert into storage.buckets (id, name, lifecycle_configuration, lifecycle_configuration_generation) values ('a', 'a', ` + rules + `)`, "", ""},
		{"authenticated", set + `row (` + rules + `)`, "PST01", "protect_bucket_control_update_role"},
		// the generation of bucket a
		{"service_role", set + `row ('{"rules": [{}, {}]}', '00000000-0000-4000-8000-000000000001')`, "22023", ""},
		{"service_role", set + `row ('{"rules": [{}, {}]}', gen_random_uuid())`, "", ""},
		{"service_role", set + `row ('{"rules": []}', gen_random_uuid())`, "23514",
			"buckets_lifecycle_configuration_shape_check"},
		{"service_role", set + `row (null, null)`, "", ""},
		{"authenticated", `update storage.buckets set public = true where id = 'notes'`, "", ""},
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `set local role `+tt.role); err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), tt.sql)
		var pg pgconn.PgError
		if found := new(pgconn.PgError); errors.As(err, &found) {
			pg = *found
		}
		if pg.Code != tt.code || pg.ConstraintName != tt.constraint {
			t.Errorf("%s: %s: %v %q", tt.role, tt.sql, err, pg.ConstraintName)
		}
		if err != nil {
			err = tx.Rollback(t.Context())
		} else {
			err = tx.Commit(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSearchOrderIsNoSQL checks that a caller of search_by_timestamp cannot add SQL.
func TestSearchOrderIsNoSQL(t *testing.T) {
	db := testdb.New(t)
	const order = "asc, (select count(*) / 0 from pg_class)"
	if got := testdb.Value[int](db,
		`select count(*) from storage.search_by_timestamp('', 'notes', 10, 1, '', $1, 'created_at', '')`,
		order); got != 0 {
		t.Errorf("%d rows", got)
	}
	db.Exec(`insert into storage.buckets (id, name) values ('notes', 'notes'); insert into storage.objects (bucket_id, name) values ('notes', 'a'), ('notes', 'b')`)
	if got := testdb.Value[int](db,
		`select count(*) from storage.search_by_timestamp('', 'notes', 10, 1, '', $1, 'created_at', '')`,
		order); got != 2 {
		t.Errorf("%d rows", got)
	}
}

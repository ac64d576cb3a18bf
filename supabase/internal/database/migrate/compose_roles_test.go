package migrate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// composeRoles is the folder that compose.yaml mounts into the service roles.
const composeRoles = "../../../../docker/volumes/db/"

// runRoles executes the files that roles.sql includes, in its order, as psql does in the service
// roles.
func runRoles(t *testing.T, db *testdb.DB) {
	t.Helper()
	text, err := os.ReadFile(composeRoles + "roles.sql")
	if err != nil {
		t.Fatal(err)
	}
	db.ExecAs("supabase_admin", `create schema if not exists realtime`)
	for line := range strings.Lines(string(text)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), `\ir `)
		if !ok {
			continue
		}
		file := filepath.Join(composeRoles, name)
		if rest, ok := strings.CutPrefix(name, "platform/"); ok { // mounted by compose.yaml
			file = filepath.Join("platform", rest)
		}
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db.ExecAs("supabase_admin", string(part))
	}
}

// TestRealtimeNeedsNoSuperuser runs the statements of Realtime that need rights with its role: it
// reads changes, keeps partitions and its ledger, migrates both schemas and acts as the role of a
// token.
func TestRealtimeNeedsNoSuperuser(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin",
		`drop schema realtime cascade; create schema _realtime; create table _realtime.tenants (id int)`)
	runRoles(t, db)
	const role = "supabase_realtime_admin"
	if testdb.Value[bool](db, `select rolsuper or rolbypassrls from pg_roles where rolname = $1`, role) {
		t.Errorf("%s is a superuser or bypasses row level security", role)
	}
	for _, sql := range []string{
		`select pg_create_logical_replication_slot('roles_test', 'pgoutput', true)`,
		`create table realtime.messages_2001_02_03 partition of realtime.messages for values from ('2001-02-03') to ('2001-02-04')`,
		`drop table realtime.messages_2001_02_03`,
		`begin; lock table realtime.schema_migrations in share update exclusive mode; commit`,
		`insert into realtime.schema_migrations (version) values (99991231000000); alter table realtime.messages add column later int`,
		`alter table _realtime.tenants add column name text; create table _realtime.extensions (id int)`,
		`insert into realtime.subscription (subscription_id, entity, claims) values (gen_random_uuid(), 'realtime.messages', '{"role": "anon"}')`,
		`select set_config('role', 'authenticated', true), set_config('role', 'service_role', true)`,
	} {
		db.ExecAs(role, sql)
	}
	runRoles(t, db) // at each docker compose up
}

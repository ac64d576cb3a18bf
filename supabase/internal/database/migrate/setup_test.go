package migrate_test

import (
	"strings"
	"testing"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"
)

// TestSetupRoles checks that roles.sql, in the form of `db dump --role-only`, runs once and before
// the migrations.
func TestSetupRoles(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	files := map[string]string{
		"roles.sql": `SET default_transaction_read_only = off;
CREATE ROLE "setup_reader";
ALTER ROLE "setup_reader" WITH INHERIT NOCREATEROLE NOCREATEDB NOLOGIN NOBYPASSRLS;
ALTER ROLE "authenticated" SET "statement_timeout" TO '9s';
GRANT "setup_reader" TO "authenticator" GRANTED BY "postgres";
RESET ALL;`,
		"migrations/1_a.sql": `create table a (); grant select on a to setup_reader;`,
	}
	t.Cleanup(func() { // roles belong to the whole server
		db.ExecAs("supabase_admin",
			`drop owned by setup_reader; drop role setup_reader; alter role authenticated set statement_timeout = '8s'`)
	})
	if err := migrate.Setup(t.Context(), conn, project(files), false); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Apply(t.Context(), conn, project(files)); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Setup(t.Context(), conn, project(files), false); err != nil {
		t.Errorf("second start: %v", err)
	}
	if err := migrate.Setup(t.Context(), testdb.New(t).Conn("postgres"), project(files), false); err != nil {
		t.Errorf("another database of the server: %v", err)
	}
}

// TestSetupRolesFail checks that an error of roles.sql names the file and leaves nothing.
func TestSetupRolesFail(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	for range 2 { // the next start reports it again
		err := migrate.Setup(t.Context(), conn,
			project(map[string]string{"roles.sql": "create role setup_lost;\nalter role setup_missing login;"}), true)
		if err == nil || !strings.Contains(err.Error(), `roles.sql: `) ||
			!strings.Contains(err.Error(), "setup_missing") {
			t.Errorf("got %v", err)
		}
	}
	if testdb.Value[int](db, `select count(*)::int from pg_roles where rolname = 'setup_lost'`) != 0 {
		t.Error("the role of the failed file exists")
	}
}

// TestSetupHidesNewTables checks the default privileges with api.auto_expose_new_tables = false.
func TestSetupHidesNewTables(t *testing.T) {
	for _, hide := range []bool{false, true} {
		db := testdb.New(t)
		conn := db.Conn("postgres")
		if err := migrate.Setup(t.Context(), conn, project(nil), hide); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(),
			`create table public.a (id serial); create function public.f() returns int language sql as 'select 1'`); err != nil {
			t.Fatal(err)
		}
		if reads := testdb.Value[bool](db, `select has_table_privilege('anon', 'public.a', 'select')
			or has_table_privilege('service_role', 'public.a', 'insert')
			or has_sequence_privilege('authenticated', 'public.a_id_seq', 'usage')
			or exists (select from pg_proc, aclexplode(proacl) acl where proname = 'f' and acl.grantee = 'anon'::regrole)`); reads == hide {
			t.Errorf("hide %v: the API roles have privileges: %v", hide, reads)
		}
	}
}

// TestSetupOfOlderDatabase checks that a database with migrations is not set up again.
func TestSetupOfOlderDatabase(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	files := map[string]string{"migrations/1_a.sql": `create table a ()`, "roles.sql": "select 1 / 0"}
	if _, err := migrate.Apply(t.Context(), conn, project(files)); err != nil {
		t.Fatal(err)
	}
	if err := migrate.Setup(t.Context(), conn, project(files), true); err != nil {
		t.Error(err)
	}
}

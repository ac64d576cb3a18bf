package extension_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// cronHere makes pg_cron accept the test's database.
func cronHere(db *testdb.DB) {
	db.ExecAs("supabase_admin", fmt.Sprintf(`alter database %s set cron.database_name = %[1]s`, db.Name))
	db.Exec(`create extension if not exists pg_cron with schema pg_catalog`)
}

// The statements that dumps and migrations of Supabase projects have, run as postgres, which is no
// superuser.
func TestCreateAndDrop(t *testing.T) {
	db := testdb.New(t)
	db.ExecAs("supabase_admin", fmt.Sprintf(`alter database %s set cron.database_name = %[1]s`, db.Name))
	for _, e := range []struct{ name, with, schema string }{
		{"pg_cron", "with schema pg_catalog", "pg_catalog"},
		{"pg_net", "with schema extensions", "extensions"},
		{"supabase_vault", "with schema vault", "vault"},
		{"pgmq", "", "pgmq"},
		{"pgjwt", "with schema extensions", "extensions"},
		{"pg_graphql", "with schema graphql", "graphql"},
		{"pgsodium", "", "pgsodium"},
		{"postgres_fdw", "with schema extensions", "extensions"},
		{"pgaudit", "with schema extensions", "extensions"},
		{"pg_tle", "", "pgtle"},
		{"pg_jsonschema", "with schema extensions", "extensions"},
		{"dblink", "with schema extensions", "extensions"},
		{"http", "with schema extensions", "extensions"},
		{"earthdistance", "with schema extensions cascade", "extensions"},
	} {
		create := fmt.Sprintf(`create extension if not exists "%s" %s`, e.name, e.with)
		if e.schema == "graphql" {
			db.Exec(`create schema if not exists graphql`) // as a dump does
		}
		db.Exec(create)
		db.Exec(create)
		if got := testdb.Value[string](db,
			`select extnamespace::regnamespace::text from pg_extension where extname = $1`, e.name); got != e.schema {
			t.Errorf("%s is in schema %s, want %s", e.name, got, e.schema)
		}
		if e.name == "pg_net" || e.name == "supabase_vault" {
			// These belong to the platform: postgres uses them, and supabase_admin owns them.
			db.ExecAs("supabase_admin", `drop extension `+e.name+`; `+create)
			continue
		}
		db.Exec(`alter extension "` + e.name + `" update`)
		db.Exec(`drop extension "` + e.name + `"`)
		db.Exec(create)
	}
}

func TestMissingExtensionNamesCure(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	for _, c := range []struct{ sql, message, hint string }{
		{`create extension wrappers`, `extension "wrappers" is not available`, "--database-url"},
		{`select 1; create extension pgroonga`, `extension "pgroonga" is not available`, "--database-url"},
		{`do $$ begin create extension "rum"; end $$`, `extension "rum" is not available`, "--database-url"},
		{`do $$ begin execute 'create extension pg_hashids cascade'; end $$`,
			`extension "pg_hashids" is not available`, "--database-url"},
	} {
		_, err := conn.PgConn().Exec(t.Context(), c.sql).ReadAll()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "0A000" || !strings.Contains(pg.Message, c.message) ||
			!strings.Contains(pg.Hint, c.hint) {
			t.Errorf("%s: %v (%+v)", c.sql, err, pg)
		}
	}
	// The check must not refuse what Postgres accepts.
	for _, sql := range []string{
		`create extension if not exists pgcrypto`,
		`create extension if not exists "uuid-ossp"`,
		`create extension hstore; drop extension hstore`,
		"-- create extension and more\n/* create extension\nnothing */ create extension if not exists ltree",
		`do $$ begin
			create extension citext;
			if exists (select from pg_available_extensions where name = 'rum') then create extension rum; end if;
		end $$`,
		`do $$ begin create extension rum; exception when feature_not_supported then null; end $$`,
	} {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The grants of Supabase's guides, run as postgres.
func TestGrantsOfGuides(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	d.Exec(`create extension pgmq; select pgmq.create('work')`)
	for _, sql := range []string{
		`grant usage on schema cron to postgres`,
		`grant all privileges on all tables in schema cron to postgres`,
		`grant usage on schema net to supabase_functions_admin, postgres, anon, authenticated, service_role`,
		`grant usage on schema pgmq to service_role, authenticated`,
		`grant all on all tables in schema pgmq to service_role`,
		`grant execute on all functions in schema pgmq to service_role`,
		`alter table pgmq.q_work enable row level security`,
		`alter default privileges for role postgres in schema pgmq grant all on tables to service_role`,
		`grant usage on schema vault to authenticated`,
		`grant select on vault.decrypted_secrets to authenticated`,
		`comment on extension pg_cron is 'jobs'`,
		`create schema if not exists pgmq_public`,
		`create function public.token() returns text language sql security definer set search_path = '' as $$
			select decrypted_secret from vault.decrypted_secrets where name = 'token' $$`,
		`select public.token()`,
		`select net.http_get('http://127.0.0.1:1/'), net.http_collect_response(1)`,
		`select * from cron.job_run_details; delete from cron.job_run_details where end_time < now() - interval '7 days'`,
	} {
		d.Exec(sql)
	}
}

// dblink and postgres_fdw must not connect as another role without its password, though the socket
// asks for none.
func TestConnectionsToItself(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension dblink with schema extensions; create extension postgres_fdw with schema extensions`)
	admin, err := pgx.ParseConfig(d.URL("supabase_admin"))
	if err != nil {
		t.Fatal(err)
	}
	fails := refused(t, d.Conn("postgres"))
	at := fmt.Sprintf("host=%s port=%d dbname=%s user=supabase_admin", admin.Host, admin.Port, d.Name)
	fails(`select * from dblink('`+at+`', 'select 1') as r (n int)`, "password")
	fails(`select * from dblink('`+at+` password=x', 'select 1') as r (n int)`, "password")
	fails(`select dblink_connect_u('`+at+`')`, "permission denied")
	d.Exec(fmt.Sprintf(`create server me foreign data wrapper postgres_fdw options (host '%s', port '%d', dbname '%s');
		create user mapping for postgres server me options (user 'supabase_admin', password 'x');
		create foreign table users (id uuid) server me options (schema_name 'auth', table_name 'users')`, admin.Host,
		admin.Port, d.Name))
	fails(`select * from users`, "password")
	fails(`alter user mapping for postgres server me options (add password_required 'false')`, "superuser")
}

package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/server"
)

// upstreamRoles creates the roles, schemas and defaults of a database of the image
// supabase/postgres before any service has run. Some of their attributes differ from ours, and a
// migration must keep them. The image's own tests list them (nix/tests/expected: roles.out,
// z_17_roles.out and realtime.out). Later releases also have the role supabase_realtime_admin.
const upstreamRoles = `
	create role postgres login createdb createrole replication bypassrls;
	create role anon nologin;
	create role authenticated nologin;
	create role service_role nologin bypassrls;
	create role authenticator login noinherit;
	create role supabase_auth_admin login noinherit createrole;
	create role supabase_storage_admin login noinherit createrole;
	create role supabase_functions_admin login noinherit createrole;
	create role supabase_replication_admin login replication;
	create role supabase_read_only_user login bypassrls;
	create role supabase_etl_admin login replication;
	create role dashboard_user createdb createrole replication;
	create role pgbouncer login;
	create role pgsodium_keyholder; create role pgsodium_keyiduser; create role pgsodium_keymaker; create role pgtle_admin;
	grant anon, authenticated, service_role to authenticator;
	grant anon, authenticated, service_role, authenticator to postgres with admin option;
	grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres with admin option;
	grant pg_create_subscription, pgtle_admin to postgres;
	grant authenticator to supabase_storage_admin;
	grant pg_read_all_data to supabase_read_only_user, supabase_etl_admin;
	grant pgsodium_keyiduser to pgsodium_keyholder, pgsodium_keymaker;
	grant pgsodium_keyholder to pgsodium_keymaker;
	alter role anon set statement_timeout = '3s';
	alter role authenticated set statement_timeout = '8s';
	alter role authenticator set statement_timeout = '8s';
	alter role authenticator set lock_timeout = '8s';
	alter role supabase_admin set search_path = "$user", public, auth, extensions;
	alter role supabase_auth_admin set search_path = auth;
	alter role supabase_storage_admin set search_path = storage;
	alter role postgres set search_path = "$user", public, extensions;
	grant all on database postgres to postgres;

	create publication supabase_realtime;
	create schema extensions;
	create schema auth authorization supabase_admin;
	create schema storage authorization supabase_admin;
	create schema realtime;
	grant usage on schema realtime to anon, authenticated, service_role;
	grant usage on schema realtime to postgres with grant option;
	create extension pgcrypto with schema extensions;
	create extension "uuid-ossp" with schema extensions;
	create extension pg_stat_statements with schema extensions;
	grant usage on schema public, extensions to postgres, anon, authenticated, service_role;
	grant all on schema public, extensions, auth, storage to postgres;
	grant all on schema auth to supabase_auth_admin;
	grant all on schema storage to supabase_storage_admin;
	alter default privileges in schema public grant all on tables to postgres, anon, authenticated, service_role;
	alter default privileges in schema public grant all on functions to postgres, anon, authenticated, service_role;
	alter default privileges in schema public grant all on sequences to postgres, anon, authenticated, service_role;`

// query runs SQL and returns the first value of its last row, "" if there is no row.
func query(t *testing.T, url, sql string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	result := conn.PgConn().Exec(t.Context(), sql)
	for result.NextResult() {
		for r := result.ResultReader(); r.NextRow(); {
			value = string(r.Values()[0])
		}
	}
	if err := result.Close(); err != nil {
		t.Fatal(err)
	}
	return value
}

// schemaCatalog describes all that migrations change except rows: relations with their columns and
// constraints, functions, policies, triggers, privileges and comments. catalog adds the rows that
// migrations write.
const (
	schemaCatalog = `select string_agg(line, e'\n' order by line) from (` + schemaLines + `) lines (line)`
	catalog       = `select string_agg(line, e'\n' order by line) from (` + schemaLines + `
		union all select format('bucket %s', to_jsonb(b)) from storage.buckets b
		union all select format('resource %s', to_jsonb(r)) from public.resources r
	) lines (line)`

	schemaLines = `
		select format('relation %s %s %s %s', c.oid::regclass, c.relkind, c.relowner::regrole, c.relacl) from pg_class c
		 where c.relnamespace::regnamespace::text not like 'pg\_%' and c.relkind <> 'i'
		union all select format('column %s.%s %s %s', attrelid::regclass, attname, atttypid::regtype, attnotnull) from pg_attribute a
		 join pg_class c on c.oid = attrelid where c.relnamespace::regnamespace::text not like 'pg\_%' and attnum > 0
		union all select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
		 where connamespace::regnamespace::text not like 'pg\_%'
		union all select format('index %s', indexdef) from pg_indexes where schemaname not like 'pg\_%'
		union all select format('function %s %s %s', p.oid::regprocedure, md5(prosrc), proacl) from pg_proc p
		 where pronamespace::regnamespace::text not like 'pg\_%'
		union all select format('policy %s %s %s', polrelid::regclass, polname, pg_get_expr(polwithcheck, polrelid)) from pg_policy
		union all select format('trigger %s', pg_get_triggerdef(oid)) from pg_trigger where not tgisinternal
		union all select format('role %s %s %s %s %s', rolname, rolsuper, rolinherit, rolbypassrls, rolconfig) from pg_roles
		union all select format('member %s of %s', member::regrole, roleid::regrole) from pg_auth_members
		union all select format('schema %s %s', nspname, nspacl) from pg_namespace where nspname not like 'pg\_%'
		union all select format('comment on %s: %s', pg_describe_object(classoid, objoid, objsubid), description) from pg_description where objoid > 16384
		union all select format('migration %s %s', version, name) from supabase_migrations.schema_migrations`
)

// TestMigrateWithUpstreamRoles checks the migration of a plain Postgres 17 with the roles of
// supabase/postgres. A second run changes nothing, and the program serves the database.
func TestMigrateWithUpstreamRoles(t *testing.T) {
	pg := otherServer(t)
	superuser := pg.TCPURL(server.Superuser)
	query(t, superuser, upstreamRoles)
	environment := map[string]string{"DATABASE_URL": superuser}
	if err := newApp(t, dataFolder(t), environment).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	catalogURL := superuser + "?search_path=public" // names outside of public have their schema
	first := query(t, catalogURL, catalog)
	for _, want := range []string{"relation auth.users r supabase_auth_admin",
		"relation storage.objects r supabase_storage_admin", "relation reports r postgres",
		"policy storage.objects visitors add report photos", "bucket {", "resource {", "relation river.river_job r"} {
		if !strings.Contains(first, want) {
			t.Errorf("after the migration there is no %q", want)
		}
	}
	if err := newApp(t, dataFolder(t), environment).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(first, "\n"), strings.Split(query(t, catalogURL, catalog), "\n")); diff != "" {
		t.Errorf("a second run changes something: %s", diff)
	}
	info := start(t, newApp(t, dataFolder(t), environment))
	leaveTraces(t, info)
}

// TestMigrateInCompose checks the service migrate of the compose form. It is not a superuser, and
// GoTrue and storage-api have created their own tables. It adds the schemas of the project, the
// functions and the queue, and changes nothing else.
func TestMigrateInCompose(t *testing.T) {
	pg := otherServer(t)
	superuser := pg.TCPURL(server.Superuser)
	// In the image, supautils lets postgres create policies on storage.objects. Here a membership
	// does.
	query(t, superuser, upstreamRoles+`grant supabase_storage_admin to postgres`)
	if err := pg.SetPasswords(t.Context(), map[string]string{"postgres": "pass"}); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), superuser)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := migrate.Platform(t.Context(), conn); err != nil { // in place of GoTrue and storage-api
		t.Fatal(err)
	}
	// which only our own engines need
	query(t, superuser, `drop schema daawo, auth_limits, river, edge_functions cascade`)
	environment := map[string]string{"DATABASE_URL": pg.TCPURL("postgres"), "AUTH_URL": "http://auth.example.org"}
	for range 2 {
		if err := newApp(t, dataFolder(t), environment).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := query(t, superuser, `
		select string_agg(x, ' ' order by x) from (
			select nspname from pg_namespace where nspname in ('daawo', 'auth_limits', 'river', 'private', 'edge_functions')
			union all select tablename from pg_tables where schemaname = 'public'
			union all select 'applied' || count(*) from supabase_migrations.schema_migrations) as names (x)`)
	all, err := migrate.Read(project)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("applied%d downloads_per_day edge_functions guides private report_contacts report_notes "+
		"report_notices reports resource_versions resources river staff_trail", len(all))
	if got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
}

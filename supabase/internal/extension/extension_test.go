package extension_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/internal/testdb"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// cronHere makes pg_cron accept the test's database.
func cronHere(db *testdb.DB) {
	db.ExecAs("supabase_admin", fmt.Sprintf(`alter database %s set cron.database_name = %[1]s`, db.Name))
	db.Exec(`create extension if not exists pg_cron with schema pg_catalog`)
}

// The statements that dumps and migrations of Supabase projects have, run as postgres, which is no superuser.
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
		{"dblink", "with schema extensions", "extensions"},
	} {
		create := fmt.Sprintf(`create extension if not exists "%s" %s`, e.name, e.with)
		if e.schema == "graphql" {
			db.Exec(`create schema if not exists graphql`) // as a dump does
		}
		db.Exec(create)
		db.Exec(create)
		if got := testdb.Value[string](db, `select extnamespace::regnamespace::text from pg_extension where extname = $1`, e.name); got != e.schema {
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
		{`create extension vector`, `extension "vector" is not available`, "--database-url"},
		{`CREATE EXTENSION IF NOT EXISTS "postgis" WITH SCHEMA "extensions"`, `extension "postgis" is not available`, "--database-url"},
		{`create extension http`, `extension "http" is not available`, "net.http_get"},
		{`select 1; create extension plpgsql_check`, `extension "plpgsql_check" is not available`, "--database-url"},
		{`do $$ begin create extension "pgtap"; end $$`, `extension "pgtap" is not available`, "--database-url"},
		{`do $$ begin execute 'create extension index_advisor cascade'; end $$`, `extension "index_advisor" is not available`, "--database-url"},
	} {
		_, err := conn.PgConn().Exec(t.Context(), c.sql).ReadAll()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "0A000" || !strings.Contains(pg.Message, c.message) || !strings.Contains(pg.Hint, c.hint) {
			t.Errorf("%s: %v (%+v)", c.sql, err, pg)
		}
	}
	// The check must not refuse what Postgres accepts.
	for _, sql := range []string{
		`create extension if not exists pgcrypto`,
		`create extension if not exists "uuid-ossp"`,
		`create extension hstore; drop extension hstore`,
		`do $$ begin
			create extension citext;
			if exists (select from pg_available_extensions where name = 'vector') then create extension vector; end if;
		end $$`,
		`do $$ begin create extension vector; exception when feature_not_supported then null; end $$`,
	} {
		if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

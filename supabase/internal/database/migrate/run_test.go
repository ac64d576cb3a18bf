package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"
)

// TestApplyEndsSettings checks that roles, settings and transactions that a migration leaves
// affect neither its record nor the next migration. Seeds and roles.sql run the same way.
func TestApplyEndsSettings(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	files := map[string]string{
		"migrations/1_local_role.sql":  "create table a (); set local role anon;",
		"migrations/2_role.sql":        "create table b (); set role authenticated;",
		"migrations/3_search_path.sql": "create table c (); select set_config('search_path', '', false);",
		"migrations/4_replica.sql":     "create table d (); set session_replication_role = replica;",
		"migrations/5_transaction.sql": "begin; create table e ();",
		"migrations/6_committed.sql":   "begin; create table f (); commit; begin; set role anon;",
		"migrations/7_timeout.sql":     "create table g (); set local statement_timeout = 1; set transaction_timeout = '10s';",
		"migrations/8_as_before.sql":   "create table h ();",
		"roles.sql":                    "create table r (); set local role anon;",
		"seed.sql":                     "create table s (); set local role anon;",
	}
	if err := migrate.Setup(t.Context(), conn, project(files), false); err != nil {
		t.Error(err)
	}
	applied, err := migrate.Apply(t.Context(), conn, project(files))
	if err != nil || len(applied) != 8 {
		t.Errorf("applied %v, %v", applied, err)
	}
	if ran, err := migrate.Seed(t.Context(), conn, project(files), []string{"seed.sql"}); err != nil || len(ran) != 1 {
		t.Errorf("seed: %v, %v", ran, err)
	}
	if got := tables(db); got != "a b c d e f g h r s" {
		t.Errorf("tables %q", got)
	}
	if n := testdb.Value[int](db,
		`select count(*)::int from pg_tables where schemaname = 'public' and tableowner <> 'postgres'`); n != 0 {
		t.Errorf("%d tables have another owner", n)
	}
}

// TestApplyErrors checks that an error names the line of the file, and has what Postgres says about
// it.
func TestApplyErrors(t *testing.T) {
	db := testdb.New(t)
	conn := db.Conn("postgres")
	for text, want := range map[string]string{
		"create table a (id int primary key);\n\n-- twice\ninsert into a\nvalues (1), (1);": "1_x.sql: line 4, statement 2 (insert into a): ERROR: duplicate key value violates unique constraint \"a_pkey\" (SQLSTATE 23505)\nDETAIL: Key (id)=(1) already exists.",
		"select 1;\nselect\n  nothing;":             "1_x.sql: line 3, statement 2 (select): ERROR: column \"nothing\" does not exist (SQLSTATE 42703)",
		"select 1;;\n/* a */ create extension rum;": "1_x.sql: line 2, statement 2 (create extension rum): ERROR: extension \"rum\" is not available on this server (SQLSTATE 0A000)\nDETAIL: It is not installed on the database server.\nHINT: Start the stack with --database-url",
		"-- a comment\n\ncreate extension pg_net schema nowhere;\ncreate extension pg_net schema nowhere\nnonsense": "1_x.sql: line 5, statement 2 (create extension pg_net schema nowhere): ERROR: syntax error",
		"select cron.schedule('x', '@daily', 'select 1')": "schema \"cron\" does not exist (SQLSTATE 3F000)\n" +
			"HINT: Write `create extension pg_cron;` into an earlier migration",
		"do $$\nbegin\n  perform 1 / 0;\nend $$": "CONTEXT: SQL statement \"SELECT 1 / 0\"\nPL/pgSQL function inline_code_block line 3 at PERFORM",
	} {
		_, err := migrate.Apply(t.Context(), conn, project(map[string]string{"migrations/1_x.sql": text}))
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	_, err := migrate.Seed(t.Context(), conn, project(map[string]string{"seed.sql": "select 1;\nselect 1 / 0"}),
		[]string{"seed.sql"})
	if got := fmt.Sprint(err); !strings.Contains(got,
		"seed seed.sql: line 2, statement 2 (select 1 / 0): ERROR: division by zero") {
		t.Error(got)
	}
	err = migrate.Setup(t.Context(), conn, project(map[string]string{"roles.sql": "\nselect 1 / 0"}), false)
	if got := fmt.Sprint(err); !strings.Contains(got,
		"roles.sql: line 2, statement 1 (select 1 / 0): ERROR: division by zero") {
		t.Error(got)
	}
}

// TestDumpsOfSupabase checks the statements about pg_graphql and pgsodium in dumps of supabase.com.
func TestDumpsOfSupabase(t *testing.T) {
	for name, text := range map[string]string{
		"schema": `drop extension if exists "pg_graphql";`,
		"drop":   `drop extension pg_graphql; create extension "pg_graphql" with schema "graphql";`,
		"again":  `create extension pg_graphql; create extension if not exists "pgsodium";`,
		"keys": `SET session_replication_role = replica;
INSERT INTO "pgsodium"."key" ("id", "status", "created", "expires", "key_type", "key_id", "key_context", "name", "associated_data", "raw_key", "raw_key_nonce", "parent_key", "comment", "user_data") VALUES
	('1a7c7d5e-9c43-4b57-8f0f-2f8d5f6f0a11', 'valid', '2023-05-03 09:12:26.121+00', NULL, 'aead-det', 1, '\x7067736f6469756d', 'default', 'associated', NULL, NULL, NULL, NULL, NULL);
SELECT pg_catalog.setval('"pgsodium"."key_key_id_seq"', 1, false);
RESET ALL;`,
	} {
		t.Run(name, func(t *testing.T) {
			conn := testdb.New(t).Conn("postgres")
			if _, err := migrate.Apply(t.Context(), conn,
				project(map[string]string{"migrations/1_x.sql": text})); err != nil {
				t.Error(err)
			}
		})
	}
}

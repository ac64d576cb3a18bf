package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/parts"
)

// platformSchemas are the schemas that the official CLI leaves out of a dump of the schema, and
// this program's schemas, which it does not know. A dump of the rows has auth and storage.
const platformSchemas = "information_schema|pg_*|extensions|graphql|graphql_public|net|pgmq|cron|vault|realtime|" +
	"_realtime|_analytics|_supavisor|supabase_functions|supabase_migrations|pgbouncer|pgsodium|pgsodium_masks|pgtle|" +
	"daawo|river|auth_limits|edge_functions"

// postgresTool runs a client of Postgres in PG_DUMP's folder and returns its output.
func postgresTool(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(os.Getenv("PG_DUMP")), name), args...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, messages.String())
	}
	return string(out)
}

// onlyBySuperuser removes attributes that role postgres may not write.
var onlyBySuperuser = strings.NewReplacer(" NOSUPERUSER", "", " NOREPLICATION", "")

// dumpScripts writes the roles, the schema and the rows of a stack as role postgres, and returns
// the arguments with which psql runs them.
func dumpScripts(t *testing.T, url string) (args []string) {
	t.Helper()
	var roles strings.Builder
	for line := range strings.Lines(postgresTool(t, "pg_dumpall", "--roles-only", "--no-role-passwords",
		"--quote-all-identifiers", "--dbname", url)) {
		if strings.Contains(line, `"reader"`) && !strings.Contains(line, `TO "postgres"`) { // not of the platform
			roles.WriteString(onlyBySuperuser.Replace(line))
		}
	}
	schema := postgresTool(t, "pg_dump", "--schema-only", "--quote-all-identifiers", "--extension", "*",
		"--exclude-schema", platformSchemas+"|auth|storage", "--schema", "*", "--dbname", url)
	schema = strings.ReplaceAll(schema, `CREATE SCHEMA "`, `CREATE SCHEMA IF NOT EXISTS "`)
	// Only a superuser changes what supabase_admin creates later.
	schema = strings.ReplaceAll(schema, `ALTER DEFAULT PRIVILEGES FOR ROLE "supabase_admin"`, `-- `)
	rows := postgresTool(t, "pg_dump", "--data-only", "--quote-all-identifiers", "--exclude-schema", platformSchemas,
		"--schema", "*", "--exclude-table", "auth.schema_migrations", "--exclude-table", "storage.migrations", "--dbname", url)
	args = []string{"--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--single-transaction"}
	for i, text := range []string{roles.String(), schema, "set session_replication_role = replica;\n" + rows} {
		name := filepath.Join(t.TempDir(), "dump.sql")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(i, err)
		}
		args = append(args, "--file", name)
	}
	return args
}

// stateOfProject is the state that a dump carries: the number of rows of each table, the policies,
// and the numbers of sequences.
const stateOfProject = `select
  (select string_agg(c.oid::regclass || ' ' || (xpath('/row/n/text()',
     query_to_xml('select count(*) as n from ' || c.oid::regclass, false, true, '')))[1]::text, E'\n'
     order by c.oid::regclass::text)
   from pg_class c where relnamespace::regnamespace::text in ('public', 'auth', 'storage') and relkind in ('r', 'm')) || E'\n' ||
  (select string_agg(concat_ws(' ', schemaname, tablename, policyname, roles, cmd, qual, with_check), E'\n'
     order by schemaname, tablename, policyname) from pg_policies where schemaname = 'public') || E'\n' ||
  (select string_agg(concat_ws(' ', sequencename, last_value), E'\n' order by sequencename)
   from pg_sequences where schemaname = 'public')`

// A dump by pg_dump, as the official CLI makes it, restores into a second stack, and from there
// into a third one. The second stack runs POSTGRES_ARCHIVE if it is set.
func TestDumpThereAndBack(t *testing.T) {
	t.Parallel()
	if os.Getenv("PG_DUMP") == "" {
		t.Skip("PG_DUMP is not set: see docs/evidence/extensions.md")
	}
	s := switched{data: dataFolder(t)}
	first := newApp(t, s.data, nil)
	info := start(t, first)
	s.signUpAndUpload(t, info)
	s.exec(t, withoutQueues)
	want := one(t, s.data, stateOfProject)
	for _, distribution := range []string{config.SupabasePostgres, config.EmbeddedPostgres} {
		data := dataFolder(t)
		a := newApp(t, data, nil)
		a.Project = fstest.MapFS{}
		a.Config.Storage.Buckets = nil
		if archive := os.Getenv("POSTGRES_ARCHIVE"); archive != "" && distribution == config.SupabasePostgres {
			a.Added = &parts.Store{Dir: filepath.Join(filepath.Dir(data), "parts"), Lock: filepath.Join(filepath.Dir(data), "parts.lock")}
			if _, err := a.Added.Add(t.Context(), installation.PostgresPart, parts.File(archive)); err != nil {
				t.Fatal(err)
			}
			a.Config.DB.Distribution = distribution
		}
		next := start(t, a)
		postgresTool(t, "psql", append(dumpScripts(t, info.Get("DB_URL")), "--dbname", next.Get("DB_URL"))...)
		s.data = data
		s.exec(t, `refresh materialized view public.counted`) // neither script has its rows
		if got := one(t, data, stateOfProject); got != want {
			t.Errorf("after the restore:\n%s\nbefore:\n%s", got, want)
		}
		// The rows of files have no content yet.
		_, picture := call(t, "GET", info.Get("API_URL")+"/storage/v1/object/public/avatars/a.png", "")
		if status, body := call(t, "POST", next.Get("API_URL")+"/storage/v1/object/avatars/a.png", picture, "apikey",
			next.Get("SECRET_KEY"), "Content-Type", "image/png", "X-Upsert", "true"); status != 200 {
			t.Fatalf("copy of the file: %d %s", status, body)
		}
		waitFor(t, "the schema", func() bool {
			status, _ := call(t, "GET", next.Get("API_URL")+"/rest/v1/parts?limit=1", "", "apikey", next.Get("SECRET_KEY"))
			return status == 200
		})
		s.checkAPI(t, next)
		s.exec(t, `delete from notes where text = 'service'`)
		info, want = next, one(t, data, stateOfProject)
	}
}

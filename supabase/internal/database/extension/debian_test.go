package extension_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// These tests need a pg_dump of Postgres 17 and another Postgres 17 with Debian's pg_cron.
// docs/evidence/extensions.md says how they were run. PG_DUMP is a command, such as
// /usr/lib/postgresql/17/bin/pg_dump. DEBIAN_POSTGRES_URL is the URL of a superuser; its server has
// the settings shared_preload_libraries = 'pg_cron' and cron.database_name = 'restored'.

func dumped(t *testing.T, d *testdb.DB, options ...string) string {
	t.Helper()
	command := strings.Fields(os.Getenv("PG_DUMP"))
	if len(command) == 0 {
		t.Skip("PG_DUMP is not set")
	}
	args := append(command[1:], append(options, "--inserts", "--dbname", d.TCPURL("postgres"))...)
	c := exec.CommandContext(t.Context(), command[0], args...)
	var errors strings.Builder
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v: %s", err, errors.String())
	}
	var sql strings.Builder
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, `\`) { // a command for psql
			sql.WriteString(line)
		}
	}
	return sql.String()
}

// lived returns a database in which jobs, queues, requests and secrets were used.
func lived(t *testing.T) *testdb.DB {
	t.Helper()
	d := testdb.New(t)
	cronHere(d)
	d.Exec(`create extension pgmq; create extension pgjwt with schema extensions`)
	d.Exec(`create table public.notes (id int primary key, text text); insert into notes values (1, 'a');
		create trigger hook after insert on notes for each row execute function supabase_functions.http_request('http://127.0.0.1:1/', 'POST');
		insert into notes values (2, 'b');
		select pgmq.create('work'); select pgmq.send('work', '{"n": 1}'), pgmq.send('work', '{"n": 2}'); select pgmq.archive('work', 1);
		select vault.create_secret('s3cret', 'token');
		select cron.schedule('nightly', '0 0 $ * *', 'vacuum'), cron.schedule('30 seconds', 'select 1'), cron.schedule('quick', '1 second', 'select 1');`)
	stop := startWorkers(t, d, everything, nil)
	await(t, d, true, `select count(*) > 1 from cron.job_run_details where status = 'succeeded'`)
	d.Exec(`select cron.unschedule('quick'); select cron.alter_job(1, active := false)`)
	await(t, d, 0, `select count(*)::int from cron.job_run_details where status in ('starting', 'running')`)
	stop()
	return d
}

// content returns the rows of a table as text.
func content(t *testing.T, conn *pgx.Conn, table string) (rows []string) {
	t.Helper()
	r, err := conn.Query(t.Context(), `select t::text from `+table+` t order by t::text collate "C"`)
	if err == nil {
		rows, err = pgx.CollectRows(r, pgx.RowTo[string])
	}
	if err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	return rows
}

// A dump of the whole database restores into an empty database of another embedded Postgres.
func TestDumpRestoresHere(t *testing.T) {
	from := lived(t)
	sql := dumped(t, from)
	to := testdb.NewEmpty(t)
	to.ExecAs("supabase_admin", fmt.Sprintf(`alter database %s set cron.database_name = %[1]s`, to.Name))
	conn := to.Conn("supabase_admin")
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
	source := from.Conn("supabase_admin")
	for _, table := range []string{
		"cron.job", "cron.job_run_details", "pgmq.meta", "pgmq.q_work", "pgmq.a_work", "vault.decrypted_secrets",
		"public.notes", "supabase_functions.hooks", "(select last_value, is_called from cron.jobid_seq)",
		"(select last_value, is_called from cron.runid_seq)",
		"(select extname, extnamespace::regnamespace from pg_extension)",
	} {
		want := content(t, source, table)
		if diff := cmp.Diff(want, content(t, conn, table)); diff != "" || len(want) == 0 {
			t.Errorf("%s, %d rows: %s", table, len(want), diff)
		}
	}
	to.Exec(`select pgmq.send('work', '{"n": 3}'); select cron.schedule('again', '@daily', 'x'); insert into notes values (3, 'c')`)
}

// A dump of the project and of pg_cron restores into a Postgres with Debian's pg_cron, and its
// scheduler accepts the jobs.
func TestDumpRestoresIntoDebianCron(t *testing.T) {
	target := os.Getenv("DEBIAN_POSTGRES_URL")
	if target == "" {
		t.Skip("DEBIAN_POSTGRES_URL names no Postgres with Debian's extensions: see docs/evidence/extensions.md")
	}
	from := lived(t)
	d := dumped(t, from, "--schema=public", "--extension=pg_cron", "--no-owner")
	sql := strings.ReplaceAll(d, from.Name, "restored") // the jobs' database has another name there
	conn := debianDatabase(t, target)
	if err := migrate.Platform(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	// pg_net is not one of Debian's packages, so the trigger of the webhook stays behind.
	if _, err := conn.Exec(t.Context(), `set search_path = ''; drop schema public`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
	source := from.Conn("supabase_admin")
	for _, table := range []string{
		"cron.job", "cron.job_run_details", "public.notes",
		"(select last_value, is_called from cron.jobid_seq)", "(select last_value, is_called from cron.runid_seq)",
	} {
		var want []string
		for _, row := range content(t, source, table) {
			want = append(want, strings.ReplaceAll(row, from.Name, "restored"))
		}
		if diff := cmp.Diff(want, content(t, conn, table)); diff != "" || len(want) == 0 {
			t.Errorf("%s, %d rows: %s", table, len(want), diff)
		}
	}
	// The same columns in the same order, with the same types and defaults, and functions that take
	// the same arguments.
	const shape = `(select a.attrelid::regclass::text, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull
		from pg_attribute a where a.attrelid in ('cron.job'::regclass, 'cron.job_run_details'::regclass) and a.attnum > 0)`
	const functions = `(select p.proname, pg_get_function_identity_arguments(p.oid), p.prorettype::regtype, p.pronargdefaults
		from pg_proc p where p.pronamespace = 'cron'::regnamespace and p.proname not like '\_%' and p.proname <> 'job_guard')`
	for _, compared := range []string{shape, functions} {
		if diff := cmp.Diff(content(t, source, compared), content(t, conn, compared)); diff != "" {
			t.Error(diff)
		}
	}
	pool, err := pool.Open(t.Context(), pool.Config{URL: conn.Config().ConnString(), MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if ours, err := lead.Installed(t.Context(), pool, "pg_cron", "cron.job_cache_invalidate()"); err != nil || ours {
		t.Errorf("our worker would run the jobs of Debian's pg_cron too: %v", err)
	}
	var id int
	if err := conn.QueryRow(t.Context(), `select cron.schedule('later', '@daily', 'select 1')`).Scan(&id); err != nil ||
		id != 4 {
		t.Errorf("Debian's pg_cron schedules job %d, %v", id, err)
	}
}

// debianDatabase makes the database restored and connects to it.
func debianDatabase(t *testing.T, target string) *pgx.Conn {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := pgx.Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	for _, sql := range []string{`drop database if exists restored with (force)`, `create database restored`} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	u.Path = "/restored"
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

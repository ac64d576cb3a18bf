package app

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/pool"
)

// debianProject returns a project that uses extensions of Debian.
func debianProject() fs.FS {
	files := maps.Clone(project)
	files["migrations/20260103000000_debian.sql"] = &fstest.MapFile{Data: []byte(`
create extension if not exists vector with schema extensions;
create extension if not exists pgtap with schema extensions;
create extension if not exists pg_cron with schema pg_catalog;
create table public.documents (id int primary key, embedding extensions.vector(3));
grant select on public.documents to anon;
insert into public.documents values (1, '[1,0,0]'), (2, '[0,1,0]'), (3, '[0.9,0.1,0]');
create index on public.documents using hnsw (embedding extensions.vector_cosine_ops);
create function public.nearest(query extensions.vector(3)) returns setof public.documents language sql stable as $$
  select * from public.documents order by embedding operator(extensions.<=>) query limit 2
$$;
create table public.ticks (at timestamptz default now());
select cron.schedule('tick', '1 second', 'insert into public.ticks default values');
`)}
	return files
}

// TestDebianExtensions starts the stack with --database-url on a Postgres with Debian's packages of
// pgvector, pgTAP and pg_cron: a project uses them in its migrations, a client searches vectors,
// and pg_cron runs its own jobs. DEBIAN_POSTGRES_URL is the URL of a superuser; its server has the
// settings shared_preload_libraries = 'pg_cron' and cron.database_name = 'restored'. If `daawo
// extensions install` added the other extensions to the server, a webhook and a secret are used as
// well.
func TestDebianExtensions(t *testing.T) {
	target := os.Getenv("DEBIAN_POSTGRES_URL")
	if target == "" {
		t.Skip("DEBIAN_POSTGRES_URL names no Postgres with Debian's extensions: see docs/evidence/extensions.md")
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/restored"
	ask := func(u *url.URL, sql string) (value string) {
		t.Helper()
		if err := pool.WithConn(t.Context(), u.String(), func(conn *pgx.Conn) error {
			results, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
			if err == nil && len(results) > 0 && len(results[len(results)-1].Rows) > 0 {
				value = string(results[len(results)-1].Rows[0][0])
			}
			return err
		}); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return value
	}
	admin := *u
	admin.Path = "/postgres"
	ask(&admin, `drop database if exists restored with (force)`)
	ask(&admin, `create database restored`)
	a := newApp(t, dataFolder(t), map[string]string{"DATABASE_URL": u.String()})
	a.Project = debianProject()
	got := make(chan string, 1)
	a.Functions = map[string]edge.Func{"told": told(got)}
	info := start(t, a)
	ask(u, `do $$ begin
		if exists (select from pg_extension where extname = 'pg_net') then
			create trigger tell after insert on public.notes for each row
				execute function supabase_functions.http_request('http://kong:8000/functions/v1/told', 'POST');
			insert into public.notes (text) values ('from psql');
		end if;
	end $$`)
	_, body := call(t, "POST", info.Get("API_URL")+"/rest/v1/rpc/nearest?select=id", `{"query":"[1,0,0]"}`, "apikey",
		info.Get("PUBLISHABLE_KEY"), "Content-Type", "application/json")
	var ids []struct{ ID int }
	if err := json.Unmarshal([]byte(body), &ids); err != nil || len(ids) != 2 || ids[0].ID != 1 || ids[1].ID != 3 {
		t.Errorf("nearest: %s", body)
	}
	if got := ask(u, `set search_path = public, extensions; begin; select plan(1); select has_table('public', 'documents', 'documents exists')`); !strings.HasPrefix(got, "ok 1") {
		t.Errorf("pgTAP: %s", got)
	}
	waitFor(t, "the job of pg_cron", func() bool { return ask(u, `select count(*) > 1 from public.ticks`) == "t" })
	if n := ask(u, `select count(*) from cron.job_run_details where job_pid = 0 or status = 'starting'`); n != "0" {
		t.Errorf("%s runs that are not pg_cron's", n)
	}
	if ask(u, `select count(*) from pg_extension where extname = 'pg_net'`) == "1" { // see `daawo extensions install`
		select {
		case event := <-got:
			if event != "INSERT notes from psql" {
				t.Error(event)
			}
		case <-time.After(30 * time.Second):
			t.Error("no webhook")
		}
		if s := ask(u, `select vault.create_secret('s3cret', 'token'); select decrypted_secret from vault.decrypted_secrets`); s != "s3cret" {
			t.Error(s)
		}
	}
	if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	ask(&admin, `drop database restored with (force)`)
}

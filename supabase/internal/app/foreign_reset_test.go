package app

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/doctor"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/server"
)

// foreignReset does what tools that reset a database by its URL do before they apply the migrations
// again: they drop each schema that supabase_admin does not own, and empty public, the accounts and
// the list of migrations.
const foreignReset = `
do $reset$
declare
  command text;
begin
  for command in
    select format('drop schema %I cascade', n.nspname)
      from pg_namespace n
     where n.nspowner <> 'supabase_admin'::regrole
       and n.nspname !~ '^(pg_.*|information_schema|public|extensions|vault|pgmq|pgsodium|pgbouncer|supabase_migrations)$'
       and not exists (select from pg_depend d where d.objid = n.oid and d.classid = 'pg_namespace'::regclass)
    union all
    select format('drop extension if exists %I cascade', extname)
      from pg_extension
     where extname not in ('plpgsql', 'pgcrypto', 'uuid-ossp', 'pg_stat_statements', 'pg_graphql', 'pg_net', 'pgjwt', 'pgsodium', 'supabase_vault')
  loop
    execute command;
  end loop;
  for command in
    select format('drop routine if exists %s cascade', oid::regprocedure) from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select format('drop %s if exists %s cascade', case relkind when 'v' then 'view' when 'm' then 'materialized view' else 'table' end, oid::regclass)
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'f', 'v', 'm')
    union all
    select format('truncate %s cascade', oid::regclass)
      from pg_class
     where relkind = 'r' and relname not in ('schema_migrations', 'migrations')
       and relnamespace in (select oid from pg_namespace where nspname in ('auth', 'supabase_functions'))
    union all
    select format('truncate %s cascade', oid::regclass)
      from pg_class where relkind = 'r' and relnamespace = 'supabase_migrations'::regnamespace
  loop
    execute command;
  end loop;
  for command in select format('drop policy %I on %I.%I', policyname, schemaname, tablename) from pg_policies loop
    execute command;
  end loop;
  for command in
    select format('drop publication %I', pubname) from pg_publication
     where pubname !~ '^(supabase_realtime|realtime_messages)'
  loop
    execute command;
  end loop;
end $reset$`

// TestForeignReset resets the database of a running server as another tool does, and checks that
// the server keeps serving.
func TestForeignReset(t *testing.T) {
	info := start(t, newApp(t, dataFolder(t), nil))
	everythingWorks(t, info, "before@example.org")
	conn := connectTo(t, info.Get("DB_URL"))
	if _, err := conn.Exec(t.Context(), foreignReset); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Apply(t.Context(), conn, project); err != nil {
		t.Fatal(err)
	}
	everythingWorks(t, info, "after@example.org")
}

// TestDroppedSchemas drops the schemas of this program as superuser, under a running server and
// while it is stopped. /readyz and doctor notice it, and the server creates them again.
func TestDroppedSchemas(t *testing.T) {
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	pg, err := server.Start(t.Context(),
		server.Options{Source: source, Data: filepath.Join(dataFolder(t), "pg"), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context())) })
	if err := pg.SetPasswords(t.Context(), map[string]string{server.Superuser: "pass"}); err != nil {
		t.Fatal(err)
	}
	const drop = `drop schema river, edge_functions, auth_limits, daawo cascade`
	data, environment := dataFolder(t), map[string]string{"DATABASE_URL": pg.TCPURL(server.Superuser)}
	conn := connectTo(t, pg.URL(server.Superuser))
	a := newApp(t, data, environment)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	info := a.Info()
	everythingWorks(t, info, "before@example.org")
	if _, err := conn.Exec(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	if status, reply := call(t, "GET", info.Get("API_URL")+"/readyz", ""); status != 503 ||
		!strings.Contains(reply, `"schemas":"failing"`) {
		t.Errorf("readyz with dropped schemas: %d %s", status, reply)
	}
	if findings := doctor.Examine(t.Context(), *a.Options); !strings.Contains(fmt.Sprint(findings),
		"daawo.keys, river.river_job, edge_functions.request_limits, auth_limits.buckets") {
		t.Errorf("doctor with dropped schemas: %v", findings)
	}
	waitFor(t, "the end of the repair", func() bool {
		status, _ := call(t, "GET", info.Get("API_URL")+"/readyz", "")
		return status == 200
	})
	everythingWorks(t, info, "repaired@example.org")
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, err := conn.Exec(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	everythingWorks(t, start(t, newApp(t, data, environment)), "restarted@example.org")
}

// TestRevokedFunctions checks a project that takes the right to call functions from public, as
// hardened projects do.
func TestRevokedFunctions(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	hardened := maps.Clone(project)
	hardened["migrations/20260103000000_revoke.sql"] = &fstest.MapFile{Data: []byte(`alter default privileges revoke execute on functions from public;`)}
	a.Project = hardened
	everythingWorks(t, start(t, a), "a@example.org")
}

func connectTo(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// everythingWorks checks sign-up, a mail of auth, a function with a job, REST and /readyz of a
// running stack.
func everythingWorks(t *testing.T, info Info, email string) {
	t.Helper()
	api, anon, secret := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY"), info.Get("SECRET_KEY")
	header := []string{"apikey", anon, "Content-Type", "application/json"}
	mailed := func(word string) {
		t.Helper()
		waitFor(t, "the mail with "+word, func() bool {
			_, list := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
			return strings.Contains(list, word)
		})
	}
	body := fmt.Sprintf(`{"email":%q,"password":"password-1"}`, email)
	if status, reply := call(t, "POST", api+"/auth/v1/signup", body, header...); status != 200 {
		t.Errorf("sign-up: %d %s", status, reply)
	}
	if status, reply := call(t, "POST", api+"/auth/v1/otp", fmt.Sprintf(`{"email":"code-%s"}`, email),
		header...); status != 200 {
		t.Errorf("code by mail: %d %s", status, reply)
	}
	mailed("code-" + email)
	if status, reply := call(t, "POST", api+"/functions/v1/add-note", fmt.Sprintf(`{"text":%q}`, email),
		header...); status != 200 {
		t.Errorf("function: %d %s", status, reply)
	}
	mailed("See notes " + email)
	if status, reply := call(t, "POST", api+"/storage/v1/bucket", fmt.Sprintf(`{"name":%q}`, email), "apikey", secret,
		"Content-Type", "application/json"); status != 200 {
		t.Errorf("bucket: %d %s", status, reply)
	}
	waitFor(t, "the note over REST", func() bool {
		_, reply := call(t, "GET", api+"/rest/v1/notes?select=text", "", "apikey", anon)
		return strings.Contains(reply, email)
	})
	if status, reply := call(t, "GET", api+"/readyz", ""); status != 200 {
		t.Errorf("readyz: %d %s", status, reply)
	}
}

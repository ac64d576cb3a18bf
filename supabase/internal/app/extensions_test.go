package app

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
)

// extended is a project that uses every extension, in the statements of Supabase's guides and
// dumps.
var extended = fstest.MapFS{
	"migrations/20260103000000_extensions.sql": {Data: []byte(`
create extension if not exists pg_cron with schema pg_catalog;
create extension if not exists "pg_net" with schema "extensions";
create extension if not exists pgmq;
create extension if not exists pgjwt with schema extensions;
create extension if not exists "supabase_vault" with schema "vault";
create extension if not exists "pg_graphql" with schema "graphql";
create table public.ticks (at timestamptz default now(), by text default current_user);
select cron.schedule('tick', '1 second', $$ insert into public.ticks default values $$);
select pgmq.create('work');
select vault.create_secret('bearer', 'hook_token');
create trigger tell after insert on public.notes for each row
  execute function supabase_functions.http_request('http://kong:8000/functions/v1/told', 'POST', '{"Content-Type": "application/json"}', '{}', '5000');
`)},
}

// told receives the webhooks of the project.
func told(got chan<- string) edge.Func {
	return edge.Func{NoVerifyJWT: true, Handler: func(w http.ResponseWriter, r *http.Request, _ *edge.Env) error {
		var row struct {
			Type, Table string
			Record      struct{ Text string }
		}
		if err := json.NewDecoder(r.Body).Decode(&row); err != nil {
			return err
		}
		got <- row.Type + " " + row.Table + " " + row.Record.Text
		return edge.WriteJSON(w, http.StatusOK, true)
	}}
}

func newExtended(t *testing.T, data string, environment map[string]string, got chan<- string) *App {
	t.Helper()
	a := newApp(t, data, environment)
	files := maps.Clone(project)
	maps.Copy(files, extended)
	delete(files, "seed.sql")
	a.Project = files
	a.Functions = maps.Clone(functions)
	a.Functions["told"] = told(got)
	return a
}

// one returns the value of a query as the superuser of the running server.
func one(t *testing.T, data, sql string) (value string) {
	t.Helper()
	url, err := server.Locate(filepath.Join(data, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.WithConn(t.Context(), url(server.Superuser), func(conn *pgx.Conn) error {
		return conn.QueryRow(t.Context(), sql).Scan(&value)
	}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// TestExtensions runs a project that uses the extensions: a job runs, a webhook reaches a function
// of the stack, a queue and a secret work, and all of it works again after a restart and after a
// restored backup.
func TestExtensions(t *testing.T) {
	data := dataFolder(t)
	got := make(chan string, 100)
	a := newExtended(t, data, nil, got)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A public installation refuses private addresses, but the webhook goes to the stack itself.
	addNote := func(a *App, text string) {
		t.Helper()
		info := a.Info()
		status, body := call(t, "POST", info.Get("API_URL")+"/rest/v1/notes", `{"text":"`+text+`"}`, "apikey",
			info.Get("SECRET_KEY"), "Content-Type", "application/json")
		if status != 201 {
			t.Fatalf("insert: %d %s", status, body)
		}
		select {
		case event := <-got:
			if event != "INSERT notes "+text {
				t.Errorf("the function got %q", event)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the webhook did not reach the function: %s",
				one(t, a.Data, `select coalesce(json_agg(r)::text, 'no response') from net._http_response r`))
		}
	}
	secret := func() string {
		return one(t, data, `select decrypted_secret from vault.decrypted_secrets where name = 'hook_token'`)
	}
	ticks := func() bool { return one(t, data, `select (count(*) > 0)::text from public.ticks`) == "true" }
	addNote(a, "one")
	waitFor(t, "the job", ticks)
	one(t, data, `select pgmq.send('work', '{"n": 1}')::text`)
	if s := secret(); s != "bearer" {
		t.Error(s)
	}
	store := filepath.Join(filepath.Dir(data), "backup")
	if _, err := a.Backup(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	t.Run("restart", func(t *testing.T) {
		a := newExtended(t, data, nil, got)
		start(t, a)
		one(t, data, `with gone as (delete from public.ticks) select ''`)
		waitFor(t, "the job", ticks)
		addNote(a, "two")
	})
	t.Run("restore", func(t *testing.T) {
		data = dataFolder(t)
		a := newExtended(t, data, nil, got)
		if _, err := a.Restore(t.Context(), store, time.Time{}, nil, nil); err != nil {
			t.Fatal(err)
		}
		start(t, a)
		if s := secret(); s != "bearer" {
			t.Error(s)
		}
		if m := one(t, data, `select message::text from pgmq.pop('work')`); m != `{"n": 1}` {
			t.Error(m)
		}
		one(t, data, `with gone as (delete from public.ticks) select ''`)
		waitFor(t, "the job", ticks)
		addNote(a, "three")
	})
}

// TestPublicInstallationRefusesPrivateAddresses checks the default of PG_NET_PRIVATE, and its
// values.
func TestPublicInstallationRefusesPrivateAddresses(t *testing.T) {
	for _, c := range []struct {
		host, setting string
		want          bool
	}{{"127.0.0.1", "", true}, {"0.0.0.0", "", false}, {"127.0.0.1", "refuse", false}, {"0.0.0.0", "allow", true}} {
		a := newApp(t, "", map[string]string{"DAAWO_HOST": c.host, "PG_NET_PRIVATE": c.setting,
			"PG_NET_NETWORKS": "10.0.0.0/8"})
		if got := netTargets(a.Config, front.Addresses{}); got.Private != c.want || len(got.Allowed) != 1 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestJobsConnectAsTheirRole checks that a job runs in a connection of its role and database, with
// the URL of either kind of server.
func TestJobsConnectAsTheirRole(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	start(t, a)
	beside := newApp(t, dataFolder(t), map[string]string{"DATABASE_URL": a.Info().Get("DB_URL")})
	given, err := beside.openDatabase(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := given.ConnectAs(t.Context(), "authenticator", "template1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var who string
	err = conn.QueryRow(t.Context(),
		`select current_user || ' ' || current_database() || ' ' || current_setting('application_name')`).Scan(&who)
	if err != nil || who != "authenticator template1 pg_cron" {
		t.Errorf("%s, %v", who, err)
	}
}

package app

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/server"
)

// project is the project of the tests: public notes, and a second migration for upgrades.
var project = fstest.MapFS{
	"config.toml": {Data: []byte(`
project_id = "test"

[db.seed]
sql_paths = ["./seed.sql"]

[realtime]
enabled = false

[studio]
enabled = false

[storage.buckets.avatars]
public = true
allowed_mime_types = ["image/png"]

[edge_runtime]
enabled = false
`)},
	"migrations/20260101000000_notes.sql": {Data: []byte(`
create table public.notes (id bigint generated always as identity primary key, text text not null);
alter table public.notes enable row level security;
create policy "all callers read" on public.notes for select using (true);
grant select on public.notes to anon, authenticated;
grant all on public.notes to service_role;
`)},
	"migrations/20260102000000_todos.sql": {Data: []byte(`create table public.todos (id int primary key);`)},
	"seed.sql":                            {Data: []byte(`insert into public.notes (text) values ('first'), ('second');`)},
}

// functions are the tests' own. add-note stores a note and notifies the administrators.
var functions = map[string]edge.Func{
	"hello": {Handler: func(w http.ResponseWriter, _ *http.Request, env *edge.Env) error {
		return edge.WriteJSON(w, http.StatusOK, "hello from "+env.Region+", "+env.Get("SB_REGION"))
	}},
	"add-note": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
		note, err := edge.ReadJSON[struct{ Text string }](r)
		if err != nil {
			return err
		}
		return env.Tx(r.Context(), edge.Service, func(tx pgx.Tx) error {
			if _, err := tx.Exec(r.Context(), `insert into public.notes (text) values ($1)`, note.Text); err != nil {
				return err
			}
			return env.Notify(r.Context(), tx, edge.Notice{Kind: "note.added", Title: "New note",
				Link: &edge.Row{Table: "notes", Column: "text", Value: note.Text}})
		})
	}},
}

var pages = fstest.MapFS{
	"index.html": {Data: []byte(`<a href="mailto:__CONTACT_EMAIL__">__SITE_URL__</a>`)},
	"404.html":   {Data: []byte("missing")},
}

// dataFolder returns the name of a folder that does not exist yet. The user of Postgres can reach
// it.
func dataFolder(t *testing.T) string {
	t.Helper()
	return dataFolderIn(t, "")
}

// dataFolderIn is dataFolder below a parent folder.
func dataFolderIn(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "app-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "data")
}

// newApp prepares a stack on free ports, with these variables.
func newApp(t *testing.T, data string, environment map[string]string) *App {
	t.Helper()
	c, err := config.Load(config.Sources{
		File: project["config.toml"].Data, Name: "config.toml", Getenv: env(environment),
		Program: config.Program{Pages: []config.PageVariable{{Name: "CONTACT_EMAIL", Default: "user@example.org"}}},
		Overrides: []func(*config.Config){func(c *config.Config) {
			c.API.Port, c.DB.Port, c.Inbox.Port, c.Inbox.SMTPPort, c.Studio.Port = 0, 0, 0, 0, 0
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Config: c, Data: data, Project: project, Site: pages, Functions: functions, Getenv: env(environment),
		Version: "test", RowLink: func(row edge.Row) string { return "See " + row.Table + " " + row.Value },
		Postgres: func() (fs.FS, error) { return server.FindPackage(".") },
		Log:      slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// env returns a function that looks up variables in a map.
func env(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

// start starts the stack and closes it at the end of the test.
func start(t *testing.T, a *App) Info {
	t.Helper()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return a.Info()
}

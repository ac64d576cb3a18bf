package app

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/database/backup/logical"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/engine/storage/objects"
)

// resettable is a project whose migrations write into tables of the platform.
func resettable(more fstest.MapFS) fstest.MapFS {
	files := maps.Clone(project)
	files["migrations/20260105000000_platform.sql"] = &fstest.MapFile{Data: []byte(`
create extension pg_cron with schema pg_catalog;
create extension if not exists supabase_vault with schema vault;
insert into storage.buckets (id, name) values ('scans', 'scans');
select vault.create_secret('bearer', 'hook_token');
select cron.schedule('never', '0 0 1 1 *', 'select 1');
alter database postgres set statement_timeout = '61s';
`)}
	maps.Copy(files, more)
	return files
}

// TestReset resets the database of a running server whose migrations write into tables of the
// platform: twice, with a migration and a seed that fail between, and after a reset that was
// killed.
func TestReset(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	a.Project = resettable(nil)
	info := start(t, a)
	everythingWorks(t, info, "before@example.org")
	api, secret := info.Get("API_URL"), info.Get("SECRET_KEY")
	if status, body := call(t, "POST", api+"/storage/v1/object/scans/a.txt", "scan", "apikey", secret, "Authorization",
		"Bearer "+secret); status != 200 {
		t.Fatalf("upload: %d %s", status, body)
	}
	stored := func() (found []string) {
		_ = filepath.WalkDir(filepath.Join(data, "storage"), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(path, "a.txt") {
				found = append(found, path)
			}
			return nil
		})
		return found
	}
	if len(stored()) == 0 {
		t.Fatal("the upload left no file")
	}
	value := func(q string) (text string) {
		t.Helper()
		conn := connectTo(t, info.Get("DB_URL"))
		if err := conn.QueryRow(t.Context(), q).Scan(&text); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return text
	}
	mark, err := os.ReadFile(filepath.Join(data, "storage", ".database", tenant, tenant))
	if err != nil {
		t.Fatal(err)
	}
	const users, known = `select count(*)::text from auth.users`, `select count(*)::text from storage.file_marks where token = '`
	again := func(more fstest.MapFS) error {
		t.Helper()
		other := newApp(t, data, nil)
		other.Project = resettable(more)
		return other.Reset(t.Context(), true, nil)
	}

	for name, text := range map[string]string{
		"migrations/20260106000000_wrong.sql": "insert into storage.buckets (id, name) values ('scans', 'scans');",
		"seed.sql":                            "insert into public.missing values (1);",
	} {
		err := again(fstest.MapFS{name: {Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), "the database stays as it was") ||
			!strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: %v", name, err)
		}
		if n := value(users); n == "0" || len(stored()) == 0 {
			t.Fatalf("after %s failed: %s users, files %q", name, n, stored())
		}
		everythingWorks(t, info, strings.Trim(filepath.Base(name), "._sql0123456789")+"@example.org")
	}

	// A killed reset leaves both databases.
	super := connectTo(t, superuserOf(a))
	for _, name := range []string{resetName, replacedName} {
		if _, err := super.Exec(t.Context(), "create database "+name); err != nil {
			t.Fatal(err)
		}
	}
	super.Close(t.Context())
	for range 2 {
		if err := again(nil); err != nil {
			t.Fatal(err)
		}
		checkNew(t, value)
		if n := value(known + strings.Fields(string(mark))[0] + "'"); n != "1" { // else the new database could not sweep the files
			t.Errorf("%s marks of the files are known", n)
		}
		if found := stored(); len(found) > 0 {
			t.Errorf("files of the database before: %q", found)
		}
		everythingWorks(t, info, "after@example.org")
	}
}

// checkNew checks a database after a reset of the project resettable. value returns the result of a
// query.
func checkNew(t *testing.T, value func(q string) string) {
	t.Helper()
	for q, want := range map[string]string{
		`select count(*)::text from auth.users`:                                                "0",
		`select string_agg(id, ' ' order by id) from storage.buckets`:                          "avatars scans",
		`select string_agg(jobname || ' ' || database, ',') from cron.job`:                     "never postgres",
		`select decrypted_secret from vault.decrypted_secrets where name = 'hook_token'`:       "bearer",
		`select current_setting('statement_timeout')`:                                          "61s",
		`select string_agg(datname, ' ' order by datname) from pg_database where datallowconn`: "postgres template1",
	} {
		if got := value(q); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
}

// Names of the databases of a reset, see database.Reset.
const (
	resetName    = "daawo_reset"
	replacedName = "daawo_replaced"
)

// superuserOf returns the URL of the superuser of a running stack's Postgres.
func superuserOf(a *App) string { return a.database.URL(server.Superuser) }

// TestResetOfStopped resets the database of a server that does not run. The files have the mark of
// another database, so they stay, and an import is refused.
func TestResetOfStopped(t *testing.T) {
	data := dataFolder(t)
	a := newApp(t, data, nil)
	a.Project = resettable(nil)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	everythingWorks(t, a.Info(), "before@example.org")
	if status, reply := call(t, "POST", a.Info().Get("API_URL")+"/storage/v1/object/scans/a", "x", "apikey",
		a.Info().Get("SECRET_KEY")); status != 200 {
		t.Fatalf("upload: %d %s", status, reply)
	}
	if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(data, "storage", ".database", tenant, tenant)
	if err := os.WriteFile(mark, []byte("6b1f7c1e-0000-4000-8000-000000000001 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := storedIn(t, data)
	other := newApp(t, data, nil)
	other.Project = resettable(nil)
	var steps []string
	if err := other.Reset(t.Context(), false, func(step string) { steps = append(steps, step) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(steps, "applied 20260105000000_platform") {
		t.Errorf("steps: %q", steps)
	}
	if after := storedIn(t, data); len(before) == 0 || !slices.Equal(after, before) {
		t.Errorf("files %q, before the reset %q", after, before)
	}
	if _, err := other.Import(t.Context(), "", logical.ImportOptions{Replace: true},
		strings.NewReader("")); !errors.Is(err, objects.ErrForeignFiles) {
		t.Errorf("import: %v", err)
	}
	next := newApp(t, data, nil)
	next.Project = resettable(nil)
	info := start(t, next)
	everythingWorks(t, info, "before@example.org")
	conn := connectTo(t, info.Get("DB_URL"))
	var n int
	if err := conn.QueryRow(t.Context(), `select count(*) from auth.users`).Scan(&n); err != nil || n != 2 {
		t.Errorf("%d users, want the two of everythingWorks: %v", n, err)
	}
	if err := control.Command(t.Context(), data, "/status", &info); err != nil || info.ForeignFiles != mark {
		t.Errorf("foreign files: %q, %v", info.ForeignFiles, err)
	}
}

// storedIn returns the stored files of a data folder.
func storedIn(t *testing.T, data string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(data, "storage", tenant), func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all = append(all, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

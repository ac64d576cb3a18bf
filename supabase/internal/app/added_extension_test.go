package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/server"
)

// addedExtensions returns paths for AddExtension, the name of an extension, and SQL that needs its
// files: the index of Debian's package rum in DEBIAN_RUM, or a function in SQL.
func addedExtensions(t *testing.T) (path, name, use, query string) {
	t.Helper()
	if path := os.Getenv("DEBIAN_RUM"); path != "" {
		return path, "rum", `create table texts (t tsvector); insert into texts values ('a:1 b:2'), ('b:1');
			create index on texts using rum (t extensions.rum_tsvector_ops)`,
			`select count(*)::text from texts where t @@ 'a & b'`
	}
	path = t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(path, "greeting.control"), []byte("default_version = '1.0'\nrelocatable = true\n"), 0o600),
		os.WriteFile(filepath.Join(path, "greeting--1.0.sql"),
			[]byte("create function hello(n int) returns int immutable language sql as 'select n';"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return path, "greeting", `create table texts (n int); insert into texts values (1);
		create index on texts (extensions.hello(n))`, `select count(*)::text from texts where extensions.hello(n) = 1`
}

// A backup has the files of an added extension: a restored installation uses them. Removed files
// are gone after a restart, and from the backup after the next: if a commit came during a backup,
// a restore of it takes the list of files before it, too.
func TestBackupWithAddedExtension(t *testing.T) {
	t.Parallel()
	path, name, use, query := addedExtensions(t)
	s := switched{data: dataFolder(t)}
	a := newApp(t, s.data, nil)
	source, err := a.PostgresSource()
	if err != nil {
		t.Fatal(err)
	}
	if names, err := server.AddExtension(t.Context(), server.Options{Source: source}, s.data, path); err != nil ||
		!slices.Equal(names, []string{name}) {
		t.Fatal(names, err)
	}
	store := filepath.Join(filepath.Dir(s.data), "backup")
	backup := func(a *App) {
		t.Helper()
		if _, err := a.Backup(t.Context(), store, nil); err != nil {
			t.Fatal(err)
		}
	}
	restored := func() *App {
		t.Helper()
		s.data = dataFolder(t)
		a := newApp(t, s.data, nil)
		if _, err := a.Restore(t.Context(), store, time.Time{}, nil, nil); err != nil {
			t.Fatal(err)
		}
		return a
	}
	run := func(a *App, use func()) {
		t.Helper()
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		use()
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	run(a, func() {
		s.exec(t, `create extension `+name+` with schema extensions; `+use)
		s.want(t, query, "1")
		backup(a)
	})
	a = restored()
	run(a, func() {
		s.want(t, query, "1")
		s.exec(t, `drop extension `+name+` cascade`)
	})
	if err := server.RemoveExtension(s.data, name); err != nil {
		t.Fatal(err)
	}
	a = newApp(t, s.data, nil)
	run(a, func() {
		s.want(t, `select count(*)::text from pg_available_extensions where name = '`+name+`'`, "0")
		s.want(t, `select count(*)::text from texts`, map[string]string{"rum": "2", "greeting": "1"}[name])
		// Without the mark of the first folder's server, the backup need not wait for its end.
		if err := os.Remove(filepath.Join(store, "WRITER")); err != nil {
			t.Fatal(err)
		}
		backup(a)
		time.Sleep(time.Second) // the names of backups have seconds
		backup(a)
	})
	restored()
	var left []string
	if err := filepath.WalkDir(server.AddedDir(s.data), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, name) {
			left = append(left, path)
		}
		return err
	}); err != nil || len(left) > 0 {
		t.Errorf("the files of the removed extension: %v, %v", left, err)
	}
}

package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestAddExtension adds an extension in SQL, and one in C if the build compiled one, to a Postgres
// that has neither.
func TestAddExtension(t *testing.T) {
	at, err := findModules(".")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Source, o.Runtime = os.DirFS(packageDir(at)), filepath.Dir(o.Data)
	data, from := t.TempDir(), t.TempDir()
	want := extensionFolder(t, at, from)
	names, err := AddExtension(t.Context(), o, data, from)
	if err != nil || !slices.Equal(names, want) {
		t.Fatalf("added %q, want %q: %v", names, want, err)
	}

	addBroken(t, o, data)
	if names, err := AddedExtensions(data); err != nil || !slices.Equal(names, want) {
		t.Errorf("after errors: %q, %v", names, err)
	}

	o.Source, o.Volatile = WithExtensions(o.Source, os.DirFS(AddedDir(data))), true
	s := start(t, o)
	conn, err := pgx.Connect(t.Context(), s.URL(Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var hello string
	if _, err := conn.Exec(t.Context(), `create role maker login; grant create on database postgres to maker;
		grant create on schema public to maker; set role maker; create extension greeting`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `select hello()`).Scan(&hello); err != nil || hello != "hello" {
		t.Errorf("got %q, %v", hello, err)
	}
	if err := RemoveExtension(data, "greeting"); err != nil {
		t.Error(err)
	}
	if err := RemoveExtension(data, "greeting"); err == nil {
		t.Error("removed it twice")
	}
}

// TestAddVersioned adds two folders with the files of a package of which Debian installs several
// versions, and removes one of the extensions, whose library the other one needs.
func TestAddVersioned(t *testing.T) {
	files, scripts, data := t.TempDir(), t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(files, "globe-3.so"):        "library",
		filepath.Join(scripts, "globe-3.control"): "default_version = '3.5'\nmodule_pathname = '$libdir/globe-3'\n",
		filepath.Join(scripts, "moon-3.control"):  "module_pathname='$libdir/globe-3'\n",
		filepath.Join(scripts, "globe--3.5.sql"):  "select 1;",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, libraries, err := stage([]string{files, scripts}, AddedDir(data))
	if err != nil || !slices.Equal(names, []string{"globe", "moon"}) || !slices.Equal(libraries, []string{"globe-3"}) {
		t.Fatalf("%q, %q, %v", names, libraries, err)
	}
	library := filepath.Join(AddedDir(data), libraryFolder, "globe-3.so")
	for _, step := range []struct {
		remove string
		stays  bool
	}{{"globe", true}, {"moon", false}} {
		if err := RemoveExtension(data, step.remove); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(library); (err == nil) != step.stays {
			t.Errorf("after %s was removed: %v", step.remove, err)
		}
	}
}

// TestAdoptKeepsAdded checks that an interrupted addition leaves the files that were added before.
func TestAdoptKeepsAdded(t *testing.T) {
	staged, target := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(target, controlFolder, "old.control"): "old", filepath.Join(target, ExtensionsFile): "list",
		filepath.Join(staged, controlFolder, "new.control"): "new",
	} {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := adopt(staged, target); err == nil {
		t.Error("adopted a folder without its list")
	}
	for _, file := range []string{controlFolder + "/old.control", controlFolder + "/new.control", ExtensionsFile} {
		if _, err := os.Stat(filepath.Join(target, file)); err != nil {
			t.Error(err)
		}
	}
	if err := ListExtensions(staged); err != nil {
		t.Fatal(err)
	}
	if err := adopt(staged, target); err != nil {
		t.Error(err)
	}
}

// extensionFolder fills a folder with an extension in SQL, files of none, and hypopg if the build
// of the clone at compiled it.
func extensionFolder(t *testing.T, at, from string) (names []string) {
	t.Helper()
	for name, text := range map[string]string{
		"greeting.control":    "default_version = '1.0'\nrelocatable = true\n",
		"greeting--1.0.sql":   "create function hello() returns text language sql as $$ select 'hello' $$;",
		"pkg/README":          "not a file of an extension",
		"pkg/notes.sql":       "not one either",
		"pkg/greeting.so.txt": "nor this",
	} {
		file := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names = []string{"greeting"}
	library := filepath.Join(ExtensionsDir(at, Platform()), libraryFolder, "hypopg.so")
	if _, err := os.Stat(library); err == nil {
		names = append(names, "hypopg")
		files, err := filepath.Glob(filepath.Join(ExtensionsDir(at, Platform()), controlFolder, "hypopg*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range append(files, library) {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(filepath.Join(from, filepath.Base(file)), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return names
}

// addBroken adds what cannot be loaded, or has no control file, which must change nothing.
func addBroken(t *testing.T, o Options, data string) {
	t.Helper()
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "broken.so"), []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := AddExtension(t.Context(), o, data, broken); err == nil || !strings.Contains(err.Error(), "no control file") {
		t.Errorf("a folder without a control file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(broken, "broken.control"), []byte("default_version = '1'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := AddExtension(t.Context(), o, data, broken); err == nil ||
		!strings.Contains(err.Error(), "cannot load the library broken") {
		t.Errorf("a file that is no library: %v", err)
	}
}

package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// older is the project as a release before the newest migration had it.
func older(t *testing.T) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(os.DirFS("../.."), "migrations/*.sql")
	if err != nil || len(names) < 2 {
		t.Fatalf("migrations: %v %v", names, err)
	}
	for _, name := range append(names[:len(names)-1], "config.toml") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// TestUpgrade: a program with a newer schema makes a backup of old data first, once, and nothing when it cannot.
func TestUpgrade(t *testing.T) {
	data := dataFolder(t)
	migrateWith := func(project fs.FS, environment map[string]string) error {
		a := newApp(t, data, environment)
		a.cfg.DB.Seed.Enabled = false
		if project != nil {
			a.options.Project = project
		}
		return a.Migrate(t.Context())
	}
	saved := func() int {
		backups, err := filepath.Glob(filepath.Join(data, "before-upgrade", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(backups)
	}
	if err := migrateWith(older(t), nil); err != nil {
		t.Fatal(err)
	}
	if n := saved(); n != 0 {
		t.Errorf("a new installation was backed up: %d", n)
	}
	err := migrateWith(nil, map[string]string{"BACKUP_TO": "/proc/nowhere"})
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("without a place for the backup: %v", err)
	}
	if err := migrateWith(nil, nil); err != nil {
		t.Fatal(err)
	}
	if saved() == 0 {
		t.Error("no backup was made before the upgrade")
	}
	a := newApp(t, data, nil)
	for range 2 { // as two more upgrades
		time.Sleep(1100 * time.Millisecond) // backups are named by the second
		if err := a.oneShot(t.Context(), func(d *database) error { return a.backups().full(t.Context(), d, a.backups().upgradeDir()) }); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := filepath.Glob(filepath.Join(data, "before-upgrade/base/*")); err != nil || len(kept) != 1 {
		t.Errorf("backups kept after three upgrades: %v %v", kept, err)
	}
	if err := os.RemoveAll(filepath.Join(data, "before-upgrade")); err != nil {
		t.Fatal(err)
	}
	if err := migrateWith(nil, nil); err != nil {
		t.Fatal(err)
	}
	if n := saved(); n != 0 {
		t.Errorf("a backup was made although nothing was to do: %d", n)
	}
}

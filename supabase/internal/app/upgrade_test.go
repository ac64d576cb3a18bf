package app

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app/database"
)

// older returns the project without its last migration.
func older() fs.FS {
	files := maps.Clone(project)
	delete(files, "migrations/20260102000000_todos.sql")
	return files
}

// TestUpgrade checks that a program with a newer schema first makes a backup, once, and changes
// nothing if the backup fails.
func TestUpgrade(t *testing.T) {
	data := dataFolder(t)
	public := false
	migrateWith := func(project fs.FS, environment map[string]string) error {
		a := newApp(t, data, environment)
		a.Config.DB.Seed.Enabled = false
		if public {
			a.Config.Host = "0.0.0.0"
		}
		if project != nil {
			a.Project = project
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
	if err := migrateWith(older(), nil); err != nil {
		t.Fatal(err)
	}
	if n := saved(); n != 0 {
		t.Errorf("a new installation was backed up: %d", n)
	}
	err := migrateWith(nil, map[string]string{"BACKUP_TO": "/proc/nowhere"})
	if err == nil || !strings.Contains(err.Error(), "no migration was applied") {
		t.Errorf("with a failing backup: %v", err)
	}
	public = true
	if err := migrateWith(nil, nil); err != nil {
		t.Fatal(err)
	}
	if saved() == 0 {
		t.Error("no backup was made before the upgrade")
	}
	a := newApp(t, data, nil)
	time.Sleep(1100 * time.Millisecond) // names of backups have a resolution of one second
	if err := a.oneShot(t.Context(), func(d *database.Database) error {
		return a.backups.full(t.Context(), d, a.backups.upgradeDir())
	}); err != nil {
		t.Fatal(err)
	}
	if kept, err := filepath.Glob(filepath.Join(data, "before-upgrade/base/*")); err != nil || len(kept) != 1 {
		t.Errorf("backups kept after two upgrades: %v %v", kept, err)
	}
	if err := os.RemoveAll(filepath.Join(data, "before-upgrade")); err != nil {
		t.Fatal(err)
	}
	if err := migrateWith(nil, nil); err != nil {
		t.Fatal(err)
	}
	if n := saved(); n != 0 {
		t.Errorf("a backup was made without an upgrade: %d", n)
	}
}

// TestLocalUpgrade checks that a project in development is not backed up before each migration.
func TestLocalUpgrade(t *testing.T) {
	data := dataFolder(t)
	for _, files := range []fs.FS{older(), project} {
		a := newApp(t, data, nil)
		a.Project = files
		if err := a.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(data, "before-upgrade")); !os.IsNotExist(err) {
		t.Errorf("a local project was backed up: %v", err)
	}
}

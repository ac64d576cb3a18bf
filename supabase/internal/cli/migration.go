package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

var migrationCommand = Command{
	Name:  "migration",
	Short: "Write, list, apply and repair the migrations of the project",
	Long: `
The commands of the official CLI. They use the database of the data folder, with and without a running server, or of
--db-url. 'daawo start' applies pending migrations, too.

  daawo migration new add_prices
  daawo migration up`,
	Verbs: []Command{
		{Name: "new", Args: "NAME", Short: "Write an empty migration, or one with the statements of a pipe",
			Run: newMigration},
		{Name: "list", Args: "[FLAGS]", Short: "List the migrations of the project and of the database",
			Run: listMigrations},
		{Name: "up", Args: "[FLAGS]", Short: "Apply pending migrations", Run: upMigrations},
		{Name: "down", Args: "[FLAGS]", Short: "Reset the database without the last migrations; removes all rows",
			Run: downMigrations},
		{Name: "squash", Args: "[FLAGS]", Short: "Replace the migrations by one with the schema that they make",
			Run: squashMigrations},
		{Name: "repair", Args: "[VERSION…] --status applied|reverted [FLAGS]",
			Short: "Record migrations as applied or not, and run nothing", Run: repairMigrations},
		{Name: "fetch", Args: "[FLAGS]", Short: "Write the files of recorded migrations that the project does not have",
			Run: fetchMigrations},
	},
}

// writeMigration writes a migration of the project and returns its version: the present time, or
// the first later second that no migration has.
func writeMigration(inv *Invocation, name, text string) (version string, err error) {
	dir, err := inv.migrationsDir()
	if err != nil {
		return "", err
	}
	for now := time.Now(); ; now = now.Add(time.Second) {
		version = migrate.NewVersion(now)
		taken, err := filepath.Glob(filepath.Join(dir, version+"_*.sql"))
		if err != nil {
			return "", err
		}
		if len(taken) == 0 {
			break
		}
	}
	name = strings.NewReplacer(" ", "_", "/", "_").Replace(name)
	return version, writeFile(inv, filepath.Join(dir, version+"_"+name+".sql"), text)
}

func writeFile(inv *Invocation, file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "wrote", file)
	return nil
}

// migrationsDir returns the folder of the project's migrations.
func (inv *Invocation) migrationsDir() (string, error) {
	project, err := inv.project()
	if err != nil {
		return "", err
	}
	if project.dir == "" {
		return "", errors.New("the working folder has no supabase/; `daawo init` creates one")
	}
	return filepath.Join(project.dir, "migrations"), nil
}

// upTo hides the migrations of a project for which keep returns false.
type upTo struct {
	fs.FS
	keep func(version string) bool
}

// ReadDir is part of fs.ReadDirFS, which fs.Glob uses.
func (p upTo) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	if name != "migrations" {
		return entries, err
	}
	var kept []fs.DirEntry
	for _, e := range entries {
		version, _, _ := strings.Cut(path.Base(e.Name()), "_")
		if p.keep(version) {
			kept = append(kept, e)
		}
	}
	return kept, err
}

// withDatabase calls work with the selected database and the migrations of the project. Without a
// running server it runs the Postgres of the data folder for the call: a start can fail because of
// the migrations that work repairs.
func withDatabase(ctx context.Context, inv *Invocation, f databaseFlags,
	work func(conn *pgx.Conn, files fs.FS, all []migrate.Migration) error) error {
	project, err := inv.project()
	if err != nil {
		return err
	}
	all, err := migrate.Read(project.files)
	if err != nil {
		return err
	}
	url, err := f.address(ctx, inv)
	if errors.Is(err, datadir.ErrNotRunning) {
		a, err := inv.app(false)
		if err != nil {
			return err
		}
		return a.WithDatabase(ctx, func(conn *pgx.Conn) error { return work(conn, project.files, all) })
	}
	if err != nil {
		return err
	}
	return pool.WithConn(ctx, url, func(conn *pgx.Conn) error { return work(conn, project.files, all) })
}

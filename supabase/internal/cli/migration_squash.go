package cli

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/schemadiff"

	"github.com/jackc/pgx/v5"
)

// squashMigrations replaces migrations by one that has the newest version of them.
func squashMigrations(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	version := inv.flags.String("version", "", "squash up to this `version` (default: all)")
	inv.passwordFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	dir, err := inv.migrationsDir()
	if err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	if *version != "" {
		inv.selected.files = upTo{project.files, func(v string) bool { return v <= *version }}
	}
	all, err := migrate.Read(inv.selected.files)
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return usagef("there is nothing to squash: %d migrations up to that version", len(all))
	}
	statements, err := f.schemaOfMigrations(ctx, inv)
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	text := strings.Join(statements, "\n\n") + "\n"
	if err := writeFile(inv, filepath.Join(dir, last.Version+"_"+last.Name+".sql"), text); err != nil {
		return err
	}
	for _, m := range all[:len(all)-1] {
		if err := os.Remove(filepath.Join(dir, m.Version+"_"+m.Name+".sql")); err != nil {
			return err
		}
	}
	inv.warn("%d migrations are one now, with the schema and without rows: copy statements such as INSERT into it by hand", len(all))
	return recordSquashed(ctx, inv, f, all, migrate.Statements(text))
}

// schemaOfMigrations returns the statements that create what the selected migrations make in a new
// database.
func (f databaseFlags) schemaOfMigrations(ctx context.Context, inv *Invocation) (statements []string, err error) {
	var before, after []schemadiff.Object
	read := func(into *[]schemadiff.Object) func(*pgx.Conn) error {
		return func(conn *pgx.Conn) (err error) {
			*into, err = f.objects(ctx, conn)
			return err
		}
	}
	if err := withShadow(ctx, inv, false, read(&before)); err != nil {
		return nil, err
	}
	if err := withShadow(ctx, inv, true, read(&after)); err != nil {
		return nil, err
	}
	return schemadiff.Diff(before, after), nil
}

// recordSquashed brings the history of the selected database up to date, if it has all of the
// migrations.
func recordSquashed(ctx context.Context, inv *Invocation, f databaseFlags, squashed []migrate.Migration,
	statements []string) error {
	return withDatabase(ctx, inv, f, func(conn *pgx.Conn, _ fs.FS, _ []migrate.Migration) error {
		var versions []string
		for _, m := range squashed {
			versions = append(versions, m.Version)
		}
		last := squashed[len(squashed)-1]
		if records, err := migrate.History(ctx, conn); err != nil || len(records) == 0 {
			return err // a new database applies the new file
		}
		_, err := conn.Exec(ctx, `
			with old as (delete from supabase_migrations.schema_migrations where version = any ($1) and version <> $2)
			update supabase_migrations.schema_migrations set statements = $3 where version = $2`, versions,
			last.Version, statements)
		return err
	})
}

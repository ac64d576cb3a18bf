package cli

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

// fetchMigrations writes the recorded migrations whose files are missing.
func fetchMigrations(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	dir, err := inv.migrationsDir()
	if err != nil {
		return err
	}
	return withDatabase(ctx, inv, f, func(conn *pgx.Conn, files fs.FS, _ []migrate.Migration) error {
		difference, err := migrate.Compare(ctx, conn, files)
		if err != nil {
			return err
		}
		for _, r := range difference.Missing {
			if r.Statements == nil {
				inv.warn("migration %s was recorded without its statements", r.Version)
				continue
			}
			text := ""
			for _, s := range r.Statements {
				text += strings.TrimRight(s, "; \n") + ";\n\n"
			}
			name := r.Version + "_" + filepath.Base(cmp.Or(r.Name, "fetched")) + ".sql"
			if err := writeFile(inv, filepath.Join(dir, name), strings.TrimSuffix(text, "\n")); err != nil {
				return err
			}
		}
		for _, m := range difference.Changed {
			inv.warn("%s_%s.sql differs from the database and stays as it is", m.Version, m.Name)
		}
		return nil
	})
}

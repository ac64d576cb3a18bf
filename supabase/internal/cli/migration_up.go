package cli

import (
	"context"
	"fmt"
	"io/fs"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

func upMigrations(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	inv.ignore([]string{"include-all"})
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	return applyMigrations(ctx, inv, f, false)
}

// pushDatabase is `db push` of the official CLI.
func pushDatabase(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	dry := inv.flags.Bool("dry-run", false, "only list the pending migrations")
	seed := inv.flags.Bool("include-seed", false, "also run the seed files that have not run")
	inv.ignore([]string{"include-all", "skip-vault"})
	inv.passwordFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *dry {
		return withDatabase(ctx, inv, f, func(conn *pgx.Conn, files fs.FS, _ []migrate.Migration) error {
			pending, err := migrate.Pending(ctx, conn, files)
			for _, m := range pending {
				fmt.Fprintf(inv.Stdout, "%s_%s\n", m.Version, m.Name)
			}
			if err == nil && len(pending) == 0 {
				fmt.Fprintln(inv.Stdout, "no pending migrations")
			}
			return err
		})
	}
	return applyMigrations(ctx, inv, f, *seed)
}

// applyMigrations applies the pending migrations and, if seed is set, the seed.
func applyMigrations(ctx context.Context, inv *Invocation, f databaseFlags, seed bool) error {
	c, err := inv.config()
	if err != nil {
		return err
	}
	return withDatabase(ctx, inv, f, func(conn *pgx.Conn, files fs.FS, _ []migrate.Migration) error {
		applied, err := migrate.Apply(ctx, conn, files)
		for _, m := range applied {
			fmt.Fprintf(inv.Stdout, "applied %s_%s\n", m.Version, m.Name)
		}
		if err != nil {
			return err
		}
		if len(applied) == 0 {
			fmt.Fprintln(inv.Stdout, "the schema is up to date")
		}
		if !seed {
			return nil
		}
		seeds, err := migrate.Seed(ctx, conn, files, c.DB.Seed.SQLPaths)
		for _, file := range seeds {
			fmt.Fprintln(inv.Stdout, "seeded", file)
		}
		return err
	})
}

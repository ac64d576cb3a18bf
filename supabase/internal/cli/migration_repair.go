package cli

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

// repairMigrations changes the recorded migrations of a database.
func repairMigrations(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	status := inv.flags.String("status", "", "`state` to record: applied or reverted")
	inv.passwordFlag()
	if err := inv.parseMixed(0, 1<<10); err != nil {
		return err
	}
	if *status != "applied" && *status != "reverted" {
		return usagef("--status is applied or reverted")
	}
	return withDatabase(ctx, inv, f, func(conn *pgx.Conn, _ fs.FS, all []migrate.Migration) error {
		versions := inv.args
		if len(versions) == 0 { // as the official CLI: all files of the project
			for _, m := range all {
				versions = append(versions, m.Version)
			}
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for _, version := range versions {
				if err := repair(ctx, tx, version, *status == "applied", all); err != nil {
					return err
				}
				fmt.Fprintf(inv.Stdout, "%s is recorded as %s\n", version, *status)
			}
			return nil
		})
	})
}

// repair records a version as applied or reverted.
func repair(ctx context.Context, tx pgx.Tx, version string, applied bool, all []migrate.Migration) error {
	if _, err := tx.Exec(ctx, createHistory); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from supabase_migrations.schema_migrations where version = $1`,
		version); err != nil || !applied {
		return err
	}
	i := slices.IndexFunc(all, func(m migrate.Migration) bool { return m.Version == version })
	if i < 0 {
		return fmt.Errorf("the project has no migration with version %s", version)
	}
	_, err := tx.Exec(ctx, insertHistory, version, all[i].Name, all[i].Statements)
	return err
}

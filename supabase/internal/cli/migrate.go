package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

var migrateCommand = Command{
	Name:  "migrate",
	Args:  "[--dry-run]",
	Short: "Apply pending migrations to the database and exit",
	Long: `
'daawo start' does the same at each start. Use this command for a database given by --database-url, for Docker compose,
or to look first: --dry-run lists the pending migrations and changes nothing. The official CLI records migrations in the
same table, so this command and 'supabase db push' can be used together.`,
	Run: runMigrate,
}

func runMigrate(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	dry := inv.flags.Bool("dry-run", false, "only list the pending migrations")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if *dry {
		project, err := inv.project()
		if err != nil {
			return err
		}
		var pending []migrate.Migration
		err = a.WithDatabase(ctx, func(conn *pgx.Conn) (err error) {
			pending, err = migrate.Pending(ctx, conn, project.files)
			return err
		})
		for _, m := range pending {
			fmt.Fprintf(inv.Stdout, "%s %s\n", m.Version, m.Name)
		}
		if err == nil && len(pending) == 0 {
			fmt.Fprintln(inv.Stdout, "no pending migrations")
		}
		return err
	}
	if err := a.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "the schema is up to date")
	return nil
}

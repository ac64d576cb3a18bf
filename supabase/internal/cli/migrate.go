package cli

import (
	"context"
	"fmt"
)

var migrateCommand = Command{
	Name:  "migrate",
	Args:  "[--dry-run]",
	Short: "Bring the database to the schema of this program, and end",
	Long: `
'daawo start' does the same at each start. This is for a database that is given by --database-url, for the compose form,
and for looking first: --dry-run lists the migrations that are missing and changes nothing. The official CLI records
migrations in the same table, so 'supabase db push' and this may take turns.`,
	Run: runMigrate,
}

func runMigrate(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	dry := inv.flags.Bool("dry-run", false, "only list what is missing")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if *dry {
		pending, err := a.Pending(ctx)
		for _, m := range pending {
			fmt.Fprintf(inv.Stdout, "%s %s\n", m.Version, m.Name)
		}
		if err == nil && len(pending) == 0 {
			fmt.Fprintln(inv.Stdout, "nothing is missing")
		}
		return err
	}
	if err := a.Migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "the schema is up to date")
	return nil
}

package cli

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/database/migrate"

	"github.com/jackc/pgx/v5"
)

func listMigrations(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	inv.passwordFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	return withDatabase(ctx, inv, f, func(conn *pgx.Conn, files fs.FS, all []migrate.Migration) error {
		records, err := migrate.History(ctx, conn)
		if err != nil {
			return err
		}
		names := map[string]string{}
		local, recorded := map[string]string{}, map[string]string{}
		for _, r := range records {
			recorded[r.Version], names[r.Version] = r.Version, r.Name
		}
		for _, m := range all {
			local[m.Version], names[m.Version] = m.Version, m.Name
		}
		t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "PROJECT\tDATABASE\tTIME (UTC)\tNAME")
		for _, version := range slices.Sorted(maps.Keys(names)) {
			at := ""
			if written, err := time.Parse("20060102150405", version); err == nil {
				at = written.Format(time.DateTime)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", local[version], recorded[version], at, names[version])
		}
		if err := t.Flush(); err != nil {
			return err
		}
		difference, err := migrate.Compare(ctx, conn, files)
		for _, warning := range difference.Warnings() {
			inv.warn("%s", warning)
		}
		return err
	})
}

// passwordFlag refuses -p of the official CLI: a password on a command line is visible to other
// users of the machine.
func (inv *Invocation) passwordFlag() {
	for _, name := range []string{"password", "p"} {
		inv.refuse(name, "is not supported; the password is part of --db-url")
	}
}

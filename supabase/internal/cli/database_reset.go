package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"daawo/supabase/internal/base/config"
)

// resetDatabase replaces the database of the data folder by a new one. Like the official CLI, it
// asks only on a terminal.
func resetDatabase(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.flags.Bool("local", false, "use the data folder (the default)")
	linked := inv.flags.Bool("linked", false, "not supported; use --db-url")
	inv.textFlag("db-url", "superuser `URL` of another database to replace",
		func(c *config.Config, s string) { c.DatabaseURL = s })
	noSeed := inv.flags.Bool("no-seed", false, "do not run the seed")
	yes := inv.flags.Bool("yes", false, "do not ask")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *linked {
		return usagef("--linked: there is no linked project; use --db-url with the connection string of the project")
	}
	c, err := inv.config()
	if err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if !*yes && isTerminal(inv.Stdin) && !inv.Confirm(ctx, "Delete all rows, users and files of the project?") {
		return errors.New("not confirmed, so nothing was changed; --yes does not ask")
	}
	err = a.Reset(ctx, c.DB.Seed.Enabled && !*noSeed, func(step string) { fmt.Fprintln(inv.Stderr, step) })
	if err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "the database is new")
	return nil
}

// isTerminal reports whether a stream of the program is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

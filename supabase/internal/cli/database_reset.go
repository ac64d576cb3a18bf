package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
)

// resetDatabase replaces the database of the data folder by a new one. Like the official CLI, it
// asks only on a terminal.
func resetDatabase(ctx context.Context, inv *Invocation) error {
	f := newResetFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	return f.run(ctx, inv)
}

// resetFlags holds the flags of `db reset` and `migration down`.
type resetFlags struct {
	linked, noSeed, yes *bool
	version             *string
	last                *int
}

func newResetFlags(inv *Invocation) resetFlags {
	inv.dataFlag()
	inv.flags.Bool("local", false, "use the data folder (the default)")
	url := func(c *config.Config, s string) { c.DatabaseURL = s }
	inv.textFlag("db-url", "superuser `URL` of another database to replace", url)
	inv.flags.Var(remoteFlag{func(s string) {
		inv.overrides = append(inv.overrides, func(c *config.Config) { url(c, s) })
	}}, "remote", "the same as --db-url `URL`, in version 3 of the official CLI")
	var seeds []string
	inv.flags.Func("sql-paths", "`pattern` of seed files, in place of db.seed.sql_paths; may be repeated",
		func(s string) error {
			seeds = append(seeds, s)
			inv.overrides = append(inv.overrides, func(c *config.Config) { c.DB.Seed.SQLPaths = seeds })
			return nil
		})
	return resetFlags{
		linked:  inv.flags.Bool("linked", false, "not supported; use --db-url"),
		noSeed:  inv.flags.Bool("no-seed", false, "do not run the seed"),
		yes:     inv.flags.Bool("yes", false, "do not ask"),
		version: inv.flags.String("version", "", "apply the migrations up to this `version` only"),
		last:    inv.flags.Int("last", 0, "leave out the last `number` of migrations"),
	}
}

func (f resetFlags) run(ctx context.Context, inv *Invocation) error {
	if *f.linked {
		return usagef("--linked: there is no linked project; use --db-url with the connection string of the project")
	}
	if err := f.limit(inv); err != nil {
		return err
	}
	c, err := inv.config()
	if err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	if !*f.yes && isTerminal(inv.Stdin) && !inv.Confirm(ctx, "Delete all rows, users and files of the project?") {
		return errors.New("not confirmed, so nothing was changed; --yes does not ask")
	}
	progress := newActivity(inv, inv.Stderr)
	defer progress.cancel()
	if err := a.Reset(ctx, c.DB.Seed.Enabled && !*f.noSeed, progress.begin); err != nil {
		return err
	}
	progress.end()
	fmt.Fprintln(inv.Stdout, "the database is new")
	return nil
}

// limit hides the migrations that --version and --last leave out.
func (f resetFlags) limit(inv *Invocation) error {
	project, err := inv.project()
	if err != nil || *f.version == "" && *f.last == 0 {
		return err
	}
	all, err := migrate.Read(project.files)
	if err != nil {
		return err
	}
	version := *f.version
	switch {
	case version != "" && *f.last != 0:
		return usagef("--version and --last exclude each other")
	case version != "" && !slices.ContainsFunc(all, func(m migrate.Migration) bool { return m.Version == version }):
		return fmt.Errorf("--version: the project has no migration with version %s", version)
	case *f.last < 0 || *f.last >= len(all):
		return fmt.Errorf("--last: must be from 1 to %d, the number of migrations less one", len(all)-1)
	case version == "":
		version = all[len(all)-1-*f.last].Version
	}
	inv.selected.files = upTo{project.files, func(v string) bool { return v <= version }}
	return nil
}

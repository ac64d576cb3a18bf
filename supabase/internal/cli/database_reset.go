package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/migrate"
)

// resetDatabase replaces the database of the data folder, or of --db-url, by a new one.
func resetDatabase(ctx context.Context, inv *Invocation) error {
	f := newResetFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	return f.run(ctx, inv)
}

// resetFlags holds the flags of `db reset` and `migration down`.
type resetFlags struct {
	linked, noSeed *bool
	version        *string
	last           *int
}

func newResetFlags(inv *Invocation) resetFlags {
	inv.dataFlag()
	inv.flags.Bool("local", false, "use the data folder (the default)")
	address := func(c *config.Config, s string) { c.DatabaseURL = s }
	inv.textFlag("db-url", "superuser `URL` of another database to replace", address)
	inv.flags.Var(remoteFlag{func(s string) {
		inv.overrides = append(inv.overrides, func(c *config.Config) { address(c, s) })
	}}, "remote", "the same as --db-url `URL`, in version 3 of the official CLI")
	var seeds []string
	inv.flags.Func("sql-paths", "`pattern` of seed files, in place of db.seed.sql_paths; may be repeated",
		func(s string) error {
			seeds = append(seeds, s)
			inv.overrides = append(inv.overrides, func(c *config.Config) { c.DB.Seed.SQLPaths = seeds })
			return nil
		})
	inv.flags.BoolVar(&inv.yes, "yes", false, "do not ask")
	return resetFlags{
		linked:  inv.flags.Bool("linked", false, "not supported; use --db-url"),
		noSeed:  inv.flags.Bool("no-seed", false, "do not run the seed"),
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
	if err := confirmReset(ctx, inv, c); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
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

// confirmReset returns an error unless the user agrees to a reset. It asks only on a terminal.
// Without one a local project needs no answer, as in the official CLI; a public installation and a
// database of another server need --yes.
func confirmReset(ctx context.Context, inv *Invocation, c *config.Config) error {
	target, local := "the project", false
	switch u, err := url.Parse(c.DatabaseURL); {
	case err != nil:
		target = "the database at --db-url" // its parser reports the error
	case c.DatabaseURL != "":
		target = fmt.Sprintf("the database %s on %s", strings.TrimPrefix(u.Path, "/"), u.Host)
	case !c.Loopback():
		target = fmt.Sprintf("this public installation (%s)", c.Where())
	default:
		local = true
	}
	switch {
	case isTerminal(inv.Stdin):
		if !inv.Confirm(ctx, "Delete all rows, users and files of "+target+"?") {
			return errors.New("not confirmed, so nothing was changed; --yes does not ask")
		}
	case !inv.yes && !local:
		return usagef("deletes all rows, users and files of %s, and there is no terminal to ask; --yes confirms it", target)
	}
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

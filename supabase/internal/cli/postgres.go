package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/installation"
)

var postgresCommand = Command{
	Name:  "postgres",
	Short: "Add Supabase's own Postgres with all of its extensions, and move a data folder to it",
	Long: `
Supabase publishes its Postgres as an archive that runs without Docker: with PostGIS, pg_graphql, wrappers and the
others. add downloads it for this machine, checks it against the digests of its release, and records its digest in
supabase/parts.lock. The stack runs it in place of the embedded Postgres with this in config.toml:

  [db]
  distribution = "supabase"

A data folder belongs to one of both. switch moves it to the one that config.toml names: it dumps the database and
restores it into a new folder, compares both, and keeps the folder before. The server must be stopped. Without the line
in config.toml, or with "embedded", it moves back.

  daawo postgres add
  daawo postgres add --from postgres.tar.zst    without a network
  daawo postgres switch`,
	Verbs: append(addable{title: "Supabase's Postgres", part: installation.PostgresPart, source: released}.verbs(),
		Command{Name: "switch", Short: "Move the data folder to the Postgres of config.toml", Run: switchPostgres}),
}

func switchPostgres(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	a, err := inv.app(false)
	if err != nil {
		return err
	}
	kept, err := app.SwitchPostgres(ctx, a, func(step string) { fmt.Fprintln(inv.Stderr, step) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(inv.Stdout, "the data folder is now of the distribution %s\nthe database before is in %s\n",
		a.Config.DB.Distribution, kept)
	return err
}

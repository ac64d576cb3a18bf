package cli

import (
	"bytes"
	"context"
	"strings"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/typescript"
)

var genCommand = Command{
	Name:  "gen",
	Args:  "types [--schema NAMES] [--db-url URL]",
	Short: "Print the TypeScript types of the database",
	Long: `
'gen types' prints the Database type that createClient<Database>() of supabase-js takes, from the running server's
database or from the one of --db-url.

  daawo gen types > web/src/backend/database.types.ts`,
	Run: runGen,
}

func runGen(ctx context.Context, inv *Invocation) error {
	verb := inv.action()
	inv.dataFlag()
	schemas := inv.flags.String("schema", "public", "the `schemas` to write, separated by commas")
	url := inv.flags.String("db-url", "", "database `URL`")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if verb != "types" {
		return usagef("usage: daawo gen %s", inv.command.Args)
	}
	if *url == "" {
		info, err := inv.status(ctx)
		if err != nil {
			return err
		}
		*url = info.Get("DB_URL")
	}
	pool, err := db.Open(ctx, db.Config{URL: *url, MaxConns: 1, ApplicationName: "gen"})
	if err != nil {
		return err
	}
	defer pool.Close()
	var out bytes.Buffer
	if err := typescript.Write(ctx, &out, pool.Pgx(), strings.Split(*schemas, ",")...); err != nil {
		return err
	}
	_, err = out.WriteTo(inv.Stdout)
	return err
}

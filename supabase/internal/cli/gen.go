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
	Short: "Print TypeScript types of the database",
	Long: `
Prints the type Database for createClient<Database>() of supabase-js. It reads the database of the running
server or the one of --db-url.

  daawo gen types > database.types.ts`,
	Run: runGen,
}

func runGen(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	inv.dataFlag()
	schemas := inv.flags.String("schema", "public", "`schemas` to include, separated by commas")
	url := inv.flags.String("db-url", "", "database `URL`")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if verb != "types" {
		return inv.usage()
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

package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/typegen"
)

var genCommand = Command{
	Name:  "gen",
	Short: "Print types of the database or of the functions",
	Verbs: []Command{{
		Name: "types", Args: "[LANGUAGE] [FLAGS]",
		Short: "Print types of the database or of the functions",
		Long: `
Prints types in the form of the official CLI: for TypeScript the type Database for createClient<Database>() of
supabase-js. LANGUAGE is typescript, go, swift or python. It reads the database of the running server or the one of
--db-url. With --functions it prints a typed TypeScript client of the running server's functions instead.

  daawo gen types > database.types.ts
  daawo gen types --functions > functions.types.ts`,
		Run: genTypes,
	}},
}

func genTypes(ctx context.Context, inv *Invocation) error {
	f := newDatabaseFlags(inv)
	language := inv.flags.String("lang", "typescript", "`language` of the types: typescript, go, swift or python")
	functions := inv.flags.Bool("functions", false, "types of the functions of edge.JSON instead of the database")
	inv.ignore([]string{"postgrest-v9-compat"}, "query-timeout", "swift-access-control")
	inv.refuse("project-id", "reads a project on supabase.com; use --db-url")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	if len(inv.args) == 1 {
		*language = inv.args[0]
	}
	if !slices.Contains(typegen.Languages, *language) {
		return usagef("gen types %s: the languages are %s", *language, strings.Join(typegen.Languages, ", "))
	}
	if *functions {
		return genFunctions(ctx, inv)
	}
	url, err := f.address(ctx, inv)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := pool.WithConn(ctx, url, func(conn *pgx.Conn) error {
		return typegen.Write(ctx, &out, pool.Unprepared(conn.PgConn()), *language,
			strings.Split(cmp.Or(*f.schemas, "public"), ",")...)
	}); err != nil {
		return err
	}
	_, err = out.WriteTo(inv.Stdout)
	return err
}

// maxOpenAPI bounds the OpenAPI document, in bytes.
const maxOpenAPI = 16 << 20

// openAPIOf returns the OpenAPI document of the functions of the running server.
func openAPIOf(ctx context.Context, inv *Invocation) ([]byte, error) {
	info, err := inv.status(ctx)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, info.Get("API_URL")+"/functions/v1/_openapi.json", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Apikey", info.Get("ANON_KEY"))
	req.Header.Set("Authorization", "Bearer "+info.Get("ANON_KEY"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxOpenAPI))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the functions sent no OpenAPI document: %s %s", res.Status, bytes.TrimSpace(text))
	}
	return text, nil
}

// genFunctions prints the typed client of the functions.
func genFunctions(ctx context.Context, inv *Invocation) error {
	document, err := openAPIOf(ctx, inv)
	if err != nil {
		return err
	}
	return typegen.Functions(inv.Stdout, document)
}

package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/observe"
	"daawo/supabase/internal/rest/pgrst"
)

var restCommand = Command{
	Name:  "rest",
	Args:  "explain URL [FLAGS]",
	Short: "Show the SQL of a REST request",
	Long: `
'rest explain URL' prints the statement that the REST engine would run for a URL such as
'/resources?select=title,id&is_active=is.true&order=created_at.desc', with its parameters, and runs nothing.
The database is that of --db-uri, --config or PGRST_DB_URI, read as 'serve rest' does, and the running server's where none of
them is given.

  daawo rest explain '/resources?select=id&limit=3'
  daawo rest explain '/reports' --method POST --body '{"product_name":"x"}' --prefer return=representation`,
	Run: runREST,
}

// restFlags are those of PostgREST's own command line.
type restFlags struct {
	config     string
	dumpConfig bool
	dumpSchema bool
	ready      bool
	version    bool
	example    bool
}

func (inv *Invocation) pgrstOptions(f restFlags, extra ...string) pgrst.Options {
	level := "info"
	return pgrst.Options{File: f.config, Environ: append(os.Environ(), extra...), Log: observe.Logger(inv.Stderr, level, "text")}
}

// serveREST is the PostgREST binary's replacement.
func serveREST(ctx context.Context, inv *Invocation) error {
	var f restFlags
	inv.flags.StringVar(&f.config, "config", "", "PostgREST configuration `file`; its name alone works too")
	inv.flags.BoolVar(&f.dumpConfig, "dump-config", false, "print the configuration in use, and end")
	inv.flags.BoolVar(&f.dumpSchema, "dump-schema", false, "print the schema as it is read, and end")
	inv.flags.BoolVar(&f.ready, "ready", false, "ask a running server's admin port whether it is ready, and end")
	for _, name := range []string{"version", "v"} {
		inv.flags.BoolVar(&f.version, name, false, "print the version of PostgREST that the server equals, and end")
	}
	for _, name := range []string{"example", "e"} {
		inv.flags.BoolVar(&f.example, name, false, "print an example of a configuration file, and end")
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	if len(inv.args) == 1 {
		f.config = inv.args[0]
	}
	o := inv.pgrstOptions(f)
	switch {
	case f.version:
		_, err := fmt.Fprint(inv.Stdout, pgrst.VersionText())
		return err
	case f.example:
		_, err := fmt.Fprint(inv.Stdout, pgrst.Example())
		return err
	case f.dumpConfig:
		return pgrst.DumpConfig(ctx, o, inv.Stdout)
	case f.dumpSchema:
		return pgrst.DumpSchema(ctx, o, inv.Stdout)
	case f.ready:
		return pgrst.CheckReady(ctx, o, inv.Stdout)
	default:
		o.Stdout, o.Stderr = inv.Stdout, inv.Stderr
		return pgrst.Run(ctx, o)
	}
}

func runREST(ctx context.Context, inv *Invocation) error {
	if len(inv.args) > 0 && inv.args[0] == "explain" {
		inv.args = inv.args[1:]
	} else if len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		return usagef("usage: daawo rest explain URL")
	}
	var f restFlags
	var uri, method, body, prefer, accept, schemas string
	inv.dataFlag()
	inv.flags.StringVar(&f.config, "config", "", "PostgREST configuration `file`")
	inv.flags.StringVar(&uri, "db-uri", "", "database `URI` (PGRST_DB_URI)")
	inv.flags.StringVar(&schemas, "db-schemas", "", "exposed `schemas`, separated by commas (PGRST_DB_SCHEMAS)")
	inv.flags.StringVar(&method, "method", http.MethodGet, "HTTP `method`")
	inv.flags.StringVar(&body, "body", "", "request `body`")
	inv.flags.StringVar(&prefer, "prefer", "", "the Prefer `header`")
	inv.flags.StringVar(&accept, "accept", "", "the Accept `header`")
	// The URL may stand before the flags, as one writes it.
	var url string
	if len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		url, inv.args = inv.args[0], inv.args[1:]
	}
	if err := inv.parse(0, 1); err != nil {
		return err
	}
	if len(inv.args) == 1 {
		url = inv.args[0]
	}
	if url == "" {
		return usagef("usage: daawo rest explain URL")
	}
	if _, set := inv.Getenv("PGRST_DB_URI"); uri == "" && f.config == "" && !set {
		data, err := inv.running()
		if err != nil {
			return err
		}
		var info app.Info
		if err := app.Command(ctx, data, "/status", &info); err != nil {
			return err
		}
		uri = info.Get("DB_URL")
	}
	var extra []string
	if uri != "" {
		extra = append(extra, "PGRST_DB_URI="+uri)
	}
	if schemas != "" {
		extra = append(extra, "PGRST_DB_SCHEMAS="+schemas)
	}
	o := inv.pgrstOptions(f, extra...)
	o.Log = slog.New(slog.DiscardHandler)
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(method), url, strings.NewReader(body))
	if err != nil {
		return usagef("%v", err)
	}
	for name, value := range map[string]string{"Prefer": prefer, "Accept": accept} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	text, err := pgrst.Explain(ctx, o, req)
	if err != nil {
		return err
	}
	fmt.Fprint(inv.Stdout, text)
	return nil
}

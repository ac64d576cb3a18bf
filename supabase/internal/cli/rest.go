package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/engine/rest/pgrst"
)

var restCommand = Command{
	Name:  "rest",
	Args:  "explain URL [FLAGS]",
	Short: "Show the SQL of a REST request",
	Long: `
Prints the statement and parameters that the REST engine would execute for a URL, and executes nothing.
The URL has no /rest/v1, for example '/notes?select=id,title&done=is.true&order=created_at.desc'.
The database is the one of --db-uri, --config or PGRST_DB_URI, as for 'daawo serve rest', or else the running server's.

  daawo rest explain '/notes?select=id&limit=3'
  daawo rest explain '/notes' --method POST --body '{"title":"x"}' --prefer return=representation`,
	Verbs: []Command{{Name: "explain", Args: "URL [FLAGS]", Short: "Print the SQL of a request"}},
	Run:   runREST,
}

// pgrstOptions returns the options of the REST engine. extra are NAME=value variables besides those
// of the process.
func (inv *Invocation) pgrstOptions(configFile string, extra ...string) pgrst.Options {
	return pgrst.Options{File: configFile, Environ: append(os.Environ(), extra...),
		Log: observe.Logger(inv.Stderr, "info", "text")}
}

// explainFlags holds the flags of `rest explain`.
type explainFlags struct {
	config, uri, schemas         string
	method, body, prefer, accept string
}

func runREST(ctx context.Context, inv *Invocation) error {
	if verb := inv.Verb(); verb != "" && verb != "explain" {
		return inv.usage()
	}
	var f explainFlags
	inv.dataFlag()
	inv.flags.StringVar(&f.config, "config", "", "PostgREST configuration `file`")
	inv.flags.StringVar(&f.uri, "db-uri", "", "database `URI` (environment: PGRST_DB_URI)")
	inv.flags.StringVar(&f.schemas, "db-schemas", "",
		"exposed `schemas`, separated by commas (environment: PGRST_DB_SCHEMAS)")
	inv.flags.StringVar(&f.method, "method", http.MethodGet, "HTTP `method`")
	inv.flags.StringVar(&f.body, "body", "", "request `body`")
	inv.flags.StringVar(&f.prefer, "prefer", "", "`value` of the header Prefer")
	inv.flags.StringVar(&f.accept, "accept", "", "`value` of the header Accept")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	if _, set := inv.Getenv("PGRST_DB_URI"); f.uri == "" && f.config == "" && !set {
		info, err := inv.status(ctx)
		if err != nil {
			return err
		}
		f.uri = info.Get("DB_URL")
	}
	req, err := f.request(ctx, inv.args[0])
	if err != nil {
		return usagef("%v", err)
	}
	o := inv.pgrstOptions(f.config, f.variables()...)
	o.Log = slog.New(slog.DiscardHandler)
	text, err := pgrst.Explain(ctx, o, req)
	if err != nil {
		return err
	}
	fmt.Fprint(inv.Stdout, text)
	return nil
}

// variables returns the flags that override PostgREST's variables, as NAME=value.
func (f explainFlags) variables() (out []string) {
	if f.uri != "" {
		out = append(out, "PGRST_DB_URI="+f.uri)
	}
	if f.schemas != "" {
		out = append(out, "PGRST_DB_SCHEMAS="+f.schemas)
	}
	return out
}

// request returns the request to explain.
func (f explainFlags) request(ctx context.Context, url string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(f.method), url, strings.NewReader(f.body))
	if err != nil {
		return nil, err
	}
	if f.prefer != "" {
		req.Header.Set("Prefer", f.prefer)
	}
	if f.accept != "" {
		req.Header.Set("Accept", f.accept)
	}
	return req, nil
}

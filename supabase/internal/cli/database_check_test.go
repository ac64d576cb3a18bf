package cli

import (
	"net/url"
	"os"
	"testing"

	"daawo/supabase/internal/database/pool"
)

// TestLint checks functions with plpgsql_check. DEBIAN_POSTGRES_URL is the URL of a superuser of a
// Postgres that has it; docs/evidence/bring-your-project.md says how it was run.
func TestLint(t *testing.T) {
	target := os.Getenv("DEBIAN_POSTGRES_URL")
	if target == "" {
		t.Skip("DEBIAN_POSTGRES_URL names no Postgres with Debian's extensions: see docs/evidence/extensions.md")
	}
	admin, err := pool.Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	for _, sql := range []string{`drop database if exists linted with (force)`, `create database linted`} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/linted"
	conn, err := pool.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, sql := range []string{
		`create schema extensions; create schema tools`,
		`create function public.fine() returns int language plpgsql as $$ begin return 1; end $$`,
		`create function public.wrong() returns int language plpgsql as $$ begin return (select missing from pg_class); end $$`,
		`create function public.untidy() returns int language plpgsql as $$ declare unused int; begin return 1; end $$`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	check := func(where string) {
		t.Helper()
		results, err := lint(t.Context(), conn, []string{"public"})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		got := map[string]string{}
		for _, r := range results {
			for _, issue := range r.Issues {
				got[r.Function] += issue.Level + ": " + issue.Message
			}
		}
		if len(results) != 3 || len(got) != 2 || got["public.wrong"] != `error: column "missing" does not exist` ||
			got["public.untidy"] == "" {
			t.Errorf("%s: %d functions, issues %q", where, len(results), got)
		}
	}
	check("extension created by lint")
	if _, err := conn.Exec(t.Context(), `create extension plpgsql_check with schema tools`); err != nil {
		t.Fatal(err)
	}
	check("extension of the project in another schema")
}

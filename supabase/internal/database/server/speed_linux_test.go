package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPostgresForSpeed compiles Postgres as `make postgres` does, and starts it on the data of the
// package's program: it gives the same answers. It runs with LONG=1.
func TestPostgresForSpeed(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("compiles Postgres; LONG=1 runs it")
	}
	at, err := findModules(".")
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := filepath.Abs(packageDir(at))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	clone := t.TempDir() // for the made files
	compiler := filepath.Join(clone, "compile")
	for _, args := range [][]string{
		{"go", "build", "-o", compiler, "./compile"}, {compiler, "-server", "-postgres", pkg},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		if args[0] == compiler {
			cmd.Dir = clone
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	questions := []string{
		`select string_agg(name || setting, ' ' order by name) from pg_settings where context = 'internal'
			and name not like 'shared_memory%'`,
		`select string_agg(collname || collversion, ' ' order by collname, collversion) from pg_collation`,
		`select string_agg(w, ' ' order by w collate "sv-x-icu") from words`,
		`select string_agg(w, ' ' order by w collate "so-x-icu") from words`,
		`select string_agg(upper(w collate "tr-x-icu"), ' ' order by n) from words`,
		`select string_agg(encode(sha256(convert_to(w, 'UTF8')), 'hex') || md5(w), ' ' order by n) from words`,
		`select xmlserialize(document xmlparse(document '<a><b>1</b></a>') as text indent)`,
		`select (xpath('/a/b/text()', '<a><b>1</b></a>'))[1]::text`,
		`select encode(digest('x', 'sha512'), 'hex') from words limit 1`,
		`select bt_index_check('words_w_idx', true)::text`,
	}
	o.Source = os.DirFS(pkg)
	s := start(t, o)
	for _, sql := range []string{
		`create table words as select * from
			unnest('{zebra,Ångström,ärlig,öl,ilk,Istanbul,daawo,Ceel,ǆ}'::text[]) with ordinality as words (w, n)`,
		`create index on words (w collate "sv-x-icu")`, `create extension pgcrypto`, `create extension amcheck`,
		`create extension sslinfo`,
	} {
		query(t, s.URL(Superuser), sql)
	}
	answers := make([]string, len(questions))
	for i, sql := range questions {
		answers[i] = query(t, s.URL(Superuser), sql)
	}
	const flags = `select setting from pg_config where name = 'CFLAGS'`
	if got := query(t, s.URL(Superuser), flags); strings.Contains(got, "-O2") {
		t.Errorf("the package's Postgres is compiled with %s: make postgres is not needed", got)
	}
	stop(t, s)

	o.Source = WithExtensions(o.Source, os.DirFS(ExtensionsDir(clone, Platform())))
	s = start(t, o)
	for i, sql := range questions {
		if got := query(t, s.URL(Superuser), sql); got != answers[i] {
			t.Errorf("%s:\n%s\nthe package's Postgres says\n%s", sql, got, answers[i])
		}
	}
	if got := query(t, s.URL(Superuser), flags); !strings.Contains(got, "-O2") {
		t.Errorf("the Postgres that was made is compiled with %s", got)
	}
	if got := query(t, s.URL(Superuser), `select ssl_is_used()`); got != "false" {
		t.Errorf("ssl_is_used: %s", got)
	}
}

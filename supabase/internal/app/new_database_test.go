package app

import (
	"maps"
	"testing"
	"testing/fstest"
)

// TestNewDatabase checks the order of a new database: secrets of the vault, roles.sql, migrations.
// New tables are hidden with api.auto_expose_new_tables = false. A reset does the same.
func TestNewDatabase(t *testing.T) {
	data := dataFolder(t)
	prepared := func() *App {
		a := newApp(t, data, nil)
		a.Config.DB.Vault = map[string]string{"token": "first"}
		a.Config.API.ExposeNewTables = false
		a.Project = maps.Clone(project)
		maps.Copy(a.Project.(fstest.MapFS), fstest.MapFS{
			"roles.sql": {Data: []byte(`
create role reader;
do $$ begin execute format('comment on role reader is %L', (select decrypted_secret from vault.decrypted_secrets)); end $$;`)},
			"migrations/20260103000000_hidden.sql": {Data: []byte(`
create table public.hidden (id int);
grant select on public.hidden to reader;`)},
		})
		return a
	}
	info := start(t, prepared())
	check := func() {
		t.Helper()
		conn := connectTo(t, info.Get("DB_URL"))
		var comment string
		var reads, anonReads bool
		if err := conn.QueryRow(t.Context(), `
			select shobj_description('reader'::regrole, 'pg_authid'), has_table_privilege('reader', 'public.hidden', 'select'),
			       has_table_privilege('anon', 'public.hidden', 'select')`).Scan(&comment, &reads,
			&anonReads); err != nil {
			t.Fatal(err)
		}
		if comment != "first" || !reads || anonReads {
			t.Errorf("comment %q, reader reads %v, anon reads %v", comment, reads, anonReads)
		}
	}
	check()
	if err := prepared().Reset(t.Context(), true, nil); err != nil {
		t.Fatal(err)
	}
	check()
}

package acceptance

import (
	"io/fs"
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// TestRolePrivileges checks statements on the tables and buckets of the product by the SQLSTATE
// that each role gets; "" is success.
func TestRolePrivileges(t *testing.T) {
	tdb := newDatabase(t)
	tdb.Exec(`insert into resources (title, category, is_active) values ('shown', 'x', true), ('hidden', 'x', false)`)
	db, err := pool.Open(t.Context(), pool.Config{URL: tdb.URL("authenticator")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	as := func(role, sql string) string { return stateAs(t, db, role, sql) }
	const denied = "42501"
	photo := func(name string) string {
		return `insert into storage.objects (bucket_id, name) values ('report-photos', '` + name + `')`
	}
	for _, c := range []struct{ sql, anon, service string }{
		{`select * from reports`, denied, ""},
		{`insert into reports (product_name, issue_description) values ('a', 'b')`, denied, ""},
		{`insert into reports (product_name, issue_description) values (' ', 'b')`, denied, "23514"},
		{`insert into reports (product_name, issue_description) values ('a', repeat('b', 5001))`, denied, "23514"},
		{`select * from new_reports`, denied, ""},
		{`select * from downloads_by_month`, denied, ""},
		{`select * from downloads_per_day`, denied, ""},
		{`select * from private.idempotency_keys`, denied, ""},
		{`select private.new_reference()`, denied, ""},
		{`select private.unattached_photo_bytes()`, denied, ""},
		{`select track_download(gen_random_uuid())`, denied, ""},
		{`select * from resources`, "", ""},
		{`insert into resources (title, category) values ('a', 'b')`, denied, ""},
		{`update resources set download_count = 9`, denied, ""},
		{`update resources set color_class = repeat('x', 201)`, denied, "23514"},
		{`update resources set file_url = ''`, denied, "23514"},
		{`update resources set file_url = ' JavaScript:alert(1)'`, denied, "23514"},
		{`update resources set file_url = e'java\nscript:alert(1)'`, denied, "23514"},
		{`update resources set icon_name = 'Skull'`, denied, ""},
		{`update resources set icon_name = repeat('x', 101)`, denied, "23514"},
		{photo("1700000000000.jpg"), "", "23505"}, // the visitor has stored it above
		{photo("1700000000001"), "", "23505"},
		{photo("evidence.jpg"), denied, ""},
		{photo("x/1700000000000.jpg"), denied, ""},
		{photo("1700000000000.jpg.exe"), denied, ""},
		{`insert into storage.objects (bucket_id, name) values ('resources', '1700000000000.pdf')`, denied, ""},
	} {
		if got := as("anon", c.sql); got != c.anon {
			t.Errorf("anon: %s: %q, want %q", c.sql, got, c.anon)
		}
		if got := as("service_role", c.sql); got != c.service {
			t.Errorf("service_role: %s: %q, want %q", c.sql, got, c.service)
		}
	}
	err = db.Tx(t.Context(), pool.Caller{Role: "authenticated"}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var n int
		if err := tx.QueryRow(t.Context(), `select count(*) from resources where not is_active`).Scan(&n); err != nil ||
			n != 0 {
			t.Errorf("authenticated sees %d hidden resources: %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}

	// 500 MB of photos without a report are the limit. A report that names the photo makes it count
	// no longer.
	tdb.ExecAs("supabase_storage_admin",
		`update storage.objects set metadata = '{"size": 500000000}' where name = '1700000000000.jpg'`)
	if got := as("anon", photo("1700000000002.jpg")); got != "53300" {
		t.Errorf("at the limit: %q", got)
	}
	tdb.Exec(`insert into reports (product_name, issue_description, photo_url) values ('a', 'b', '1700000000000.jpg')`)
	if got := as("anon", photo("1700000000002.jpg")); got != "" {
		t.Errorf("below the limit again: %q", got)
	}
}

// stateAs runs a statement under a role and returns the SQLSTATE of its error, "" for none.
func stateAs(t *testing.T, db *pool.Pool, role, sql string) string {
	err := db.Tx(t.Context(), pool.Caller{Role: role}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), sql)
		return err
	})
	if pg, ok := pool.AsPgError(err); ok {
		return pg.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// TestSeed checks that the seed can be loaded twice, and the resources of a new installation.
func TestSeed(t *testing.T) {
	tdb := newDatabase(t)
	text, err := fs.ReadFile(project, "seed.sql")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		tdb.Exec(string(text))
	}
	for what, q := range map[string]string{
		"active files":    `select count(*) >= 4 from resources where is_active and file_url <> '#' and file_size > 0`,
		"featured pair":   `select count(*) = 2 from resources where is_active and is_featured`,
		"coming soon":     `select count(*) = 1 from resources where is_active and file_url = '#'`,
		"inactive":        `select count(*) = 1 from resources where not is_active`,
		"Somali titles":   `select bool_and(title_so is not null) from resources`,
		"files of a slug": `select bool_and(file_url = '#' or file_url ~ '^/storage/v1/object/public/resources/[a-z-]+\.(en|so)\.pdf$') from resources`,
	} {
		if !testdb.Value[bool](tdb, q) {
			t.Errorf("the seed lacks: %s", what)
		}
	}
}

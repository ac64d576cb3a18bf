package acceptance

import (
	"net/http"
	"os"
	"testing"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
)

// release1 holds the migrations of the first release. A released migration is never edited; later
// changes get a new one.
var release1 = os.DirFS("testdata/release-1")

// TestUpgradeFromFirstRelease checks that this program keeps all data of the first release, that
// the schema then equals a new installation's, and that the older program can still use it.
func TestUpgradeFromFirstRelease(t *testing.T) {
	tdb := testdb.New(t)
	conn := tdb.Conn("postgres")
	if _, err := migrate.Apply(t.Context(), conn, release1); err != nil {
		t.Fatal(err)
	}
	tdb.Exec(`
		insert into public.reports (product_name, issue_description, phone, language, status)
		select 'product ' || n, 'words ' || n, '+25261' || n, 'so', 'reviewing' from generate_series(1, 50) n;
		insert into public.resources (title, title_so, category, file_url, file_type) values ('Guide', 'Hage', 'Safety', '#', 'application/pdf');
		insert into private.request_limits (client, name, requests) values ('c', 'n', 3);
		insert into private.daily_salts (day) values ('2026-09-02');
		insert into private.secrets (name) values ('submit-report')`)
	const content = `
		select string_agg(x, e'\n' order by x) from (
			select (to_jsonb(r) - '{assigned_to,first_action_at,duplicate_of,search_text,batch_key,shop_key}'::text[]
				- '{version,due_on,priority,seriousness}'::text[])::text x from public.reports r union all
			select (to_jsonb(r) - '{version,guide,file_language,preview_url}'::text[])::text from public.resources r union all
			select to_jsonb(r)::text from private.request_limits r union all select to_jsonb(r)::text from private.daily_salts r union all
			select to_jsonb(r)::text from private.secrets r
		) rows`
	before := testdb.Value[string](tdb, content)

	if err := migrateProject(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, testdb.Value[string](tdb, content)); diff != "" {
		t.Error("the upgrade changes data:", diff)
	}
	if again, err := migrate.Apply(t.Context(), conn, project); err != nil || len(again) != 0 {
		t.Error("a second run applies something:", again, err)
	}
	fresh := newDatabase(t)
	if diff := cmp.Diff(testdb.Value[string](fresh, schemaCatalog),
		testdb.Value[string](tdb, schemaCatalog)); diff != "" {
		t.Error("the upgraded schema differs from a new one. If a released migration was edited, write a new migration instead:", diff)
	}

	// The older program on the newer schema, as after a rollback or next to a newer replica.
	if back, err := migrate.Apply(t.Context(), conn, release1); err != nil || len(back) != 0 {
		t.Error("the older program does not start:", back, err)
	}
	if n := testdb.Value[int](tdb, `select count(*) from public.new_reports`) + testdb.Value[int](tdb,
		`select count(*) from public.reports where status = 'reviewing'`); n != 50 {
		t.Errorf("the older program reads %d of 50 reports", n)
	}
	tdb.Exec(`select private.count_request('c', 'n', 5, interval '1 hour')`)
}

// TestUpgradeKeepsKeys checks that the upgrade copies the secret keys of functions to schema
// edge_functions, so that a report of the older program is still recognised when it is sent again,
// with and without a key in the request.
func TestUpgradeKeepsKeys(t *testing.T) {
	for name, header := range map[string]map[string]string{"with a key": {"Idempotency-Key": "one"},
		"without a key": nil} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			body := report(nil)
			first := decode[receipt](t, s.call("submit-report", body, header), http.StatusOK)

			if header == nil { // the older program did not record the network
				s.db.Exec(`update private.idempotency_keys set body_hash = key_hash`)
			}
			// The database as the older program has left it: the keys are in schema private, and
			// the last migration is missing.
			s.db.Exec(`
				insert into private.secrets select * from edge_functions.secrets;
				delete from supabase_migrations.schema_migrations where version = '20261122000000'`)
			s.db.ExecAs("supabase_admin", `drop schema edge_functions cascade`)
			if err := migrateProject(t.Context(), s.db.Conn("postgres")); err != nil {
				t.Fatal(err)
			}
			if again := decode[receipt](t, s.replica(t).call("submit-report", body, header),
				http.StatusOK); again != first {
				t.Errorf("the repeated report gets %v, the first %v", again, first)
			}
			if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 1 {
				t.Errorf("%d reports, want 1", n)
			}
		})
	}
}

package migrate_test

import (
	"os"
	"testing"

	"daawo/supabase/internal/migrate"
	"daawo/supabase/internal/testdb"

	"github.com/google/go-cmp/cmp"
)

// TestOlderRelease opens the data of the first release with this program: nothing that was written is lost or changed, the
// schema becomes the one of a new installation, and the older program still finds its way in it. testdata/release-1 holds
// that release's migrations as they were; a released migration is never edited, it gets a successor.
func TestOlderRelease(t *testing.T) {
	older, now := os.DirFS("testdata/release-1"), os.DirFS("../..")
	db := testdb.New(t)
	conn := db.Conn("postgres")
	if _, err := migrate.Apply(t.Context(), conn, older); err != nil {
		t.Fatal(err)
	}
	db.Exec(`
		insert into public.reports (product_name, issue_description, phone, language, status)
		select 'product ' || n, 'words ' || n, '+25261' || n, 'so', 'reviewing' from generate_series(1, 50) n;
		insert into public.resources (title, title_so, category, file_url, file_type) values ('Guide', 'Hage', 'Safety', '#', 'application/pdf');
		insert into private.request_limits (client, name, requests) values ('c', 'n', 3);
		insert into private.daily_salts (day) values ('2026-09-02')`)
	const content = `
		select string_agg(x, e'\n' order by x) from (
			select to_jsonb(r)::text x from public.reports r union all select to_jsonb(r)::text from public.resources r union all
			select to_jsonb(r)::text from private.request_limits r union all select to_jsonb(r)::text from private.daily_salts r
		) rows`
	before := testdb.Value[string](db, content)

	applied, err := migrate.Apply(t.Context(), conn, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(applied) == 0 {
		t.Error("nothing has come since that release: the test proves nothing")
	}
	if diff := cmp.Diff(before, testdb.Value[string](db, content)); diff != "" {
		t.Error("what was written has changed:", diff)
	}
	if again, err := migrate.Apply(t.Context(), conn, now); err != nil || len(again) != 0 {
		t.Error("a second run does something:", again, err)
	}

	fresh := testdb.New(t)
	if _, err := migrate.Apply(t.Context(), fresh.Conn("postgres"), now); err != nil {
		t.Fatal(err)
	}
	if fingerprint(t, db) != fingerprint(t, fresh) {
		t.Error("the upgraded schema is not that of a new installation: was a released migration edited? write a new one instead")
	}

	// The older program on the newer data, as after a roll-back or beside a newer replica.
	if back, err := migrate.Apply(t.Context(), conn, older); err != nil || len(back) != 0 {
		t.Error("the older program does not start:", back, err)
	}
	if n := testdb.Value[int](db, `select count(*) from public.new_reports`) + testdb.Value[int](db, `select count(*) from public.reports where status = 'reviewing'`); n != 50 {
		t.Errorf("the older program reads %d of 50 reports", n)
	}
	db.Exec(`select private.count_request('c', 'n', 5, interval '1 hour')`)
}

package acceptance

import (
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

const trailLines = `select coalesce(string_agg(actor_name || ' ' || action || ' ' || subject || ' ' || coalesce(subject_name, '-') || ' ' || detail, e'\n' order by id), '')
	from staff_trail where subject <> 'staff'`

// TestTrail checks the rows that a reviewer, an editor and an owner leave, and that none of them
// holds content of a report.
func TestTrail(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	reviewer, editor, owner := staffClaims(2, 2, "aal2"), staffClaims(3, 3, "aal2"), staffClaims(4, 4, "aal2")
	before := testdb.Value[string](tdb, trailLines)
	for _, step := range []struct{ claims, sql string }{
		{reviewer, `select read_report('dw-0000-0001 ')`},
		{reviewer, `select read_report('DW-0000-0001')`}, // within ten minutes: no second row
		{reviewer, `select change_reports('[{"id":"20000000-0000-4000-8000-000000000001","version":1,
			"set":{"status":"reviewing","assigned_to":"00000000-0000-4000-8000-000000000002"}}]')`},
		{reviewer, `insert into report_notes (report_id, body) values ('20000000-0000-4000-8000-000000000001', 'secret words')`},
		{reviewer, `insert into report_contacts (report_id, channel, outcome, body) values ('20000000-0000-4000-8000-000000000001', 'call', 'reached', 'secret words')`},
		{reviewer, `select forward_report('DW-0000-0001')`},
		{reviewer, `insert into report_notices (report_id, recipient, channel, sent_on)
			values ('20000000-0000-4000-8000-000000000001', 'M', 'mail', '2026-11-01')`},
		{owner, `select export_cases('{20000000-0000-4000-8000-000000000001}')`},
		{editor, `update resources set is_active = true, title = 'hidden no more' where not is_active`},
		{editor, `delete from resources where title = 'shown'`},
		{reviewer, `select list_reports('{"search":"Amina"}')`},
		// the same text within ten minutes: no second row
		{reviewer, `select count_reports('{"search":" amina "}')`},
		// not in names
		{reviewer, `select list_reports('{"search":"am"}'), list_reports('{"region":"Bari"}'), list_reports('{"search":null}')`},
		{owner, `select read_report('DW-0000-0001')`},
		{owner, `select export_reports()`},
		{owner, `select delete_report('DW-0000-0001', 'asked for by its author')`},
	} {
		if err := as(t, conn, "authenticated", step.claims, step.sql); err != nil {
			t.Fatalf("%s: %v", step.sql, err)
		}
	}
	got := strings.TrimPrefix(strings.TrimPrefix(testdb.Value[string](tdb, trailLines), before), "\n")
	hash := testdb.Value[string](tdb, `select detail ->> 'hash' from staff_trail where action = 'search'`)
	if unkeyed := testdb.Value[string](tdb, `select left(encode(sha256('amina'), 'hex'), 16)`); len(hash) != 16 ||
		hash == unkeyed {
		t.Error("hash of a search:", hash)
	}
	want := strings.Join([]string{
		`reviewer@example.org read report DW-0000-0001 {}`,
		`reviewer@example.org change report DW-0000-0001 {"status": ["new", "reviewing"], "assigned_to": [null, "00000000-0000-4000-8000-000000000002"]}`,
		`reviewer@example.org note report DW-0000-0001 {}`,
		`reviewer@example.org contact report DW-0000-0001 {"channel": "call", "outcome": "reached"}`,
		`reviewer@example.org forward report DW-0000-0001 {}`,
		`reviewer@example.org notice report DW-0000-0001 {"notice": "mail", "sent_on": "2026-11-01", "recipient": "M"}`,
		`owner@example.org export report DW-0000-0001 {"format": "E2B(R3)"}`,
		`editor@example.org change resource hidden no more {"title": "changed", "is_active": true}`,
		`editor@example.org delete resource shown {}`,
		`reviewer@example.org search report - {"hash": "` + hash + `"}`,
		`owner@example.org read report DW-0000-0001 {}`,
		`owner@example.org export report - {"reports": 2}`,
		`owner@example.org delete report DW-0000-0001 {"reason": "asked for by its author", "status": "reviewing"}`,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if words := testdb.Value[string](tdb, `select string_agg(t::text, ' ') from staff_trail t`); strings.Contains(words,
		"rash") ||
		strings.Contains(words, "Amina") || strings.Contains(words, "secret") || strings.Contains(words, "cream") {
		t.Error("the trail holds content:", words)
	}
	if n := testdb.Value[int](tdb,
		`select count(*)::int from private.photos_to_remove where name = '1700000000000.jpg'`); n != 1 {
		t.Error("the photo of the deleted report is not marked")
	}
	for _, sql := range []string{`update staff_trail set actor_name = 'x'`, `delete from staff_trail`,
		`truncate staff_trail`} {
		if _, err := conn.Exec(t.Context(), sql); err == nil || stateOf(err) != "42501" {
			t.Errorf("%s as the owner of the table: %v", sql, err)
		}
	}
}

// TestTrailSearchTogether checks that the list and the count of one search, which the desk requests
// at once, leave one row.
func TestTrailSearchTogether(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	reviewer := staffClaims(2, 2, "aal2")
	first, err := tdb.Conn("postgres").Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Rollback(t.Context())
	if _, err := first.Exec(t.Context(),
		`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
		reviewer); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Exec(t.Context(), `select list_reports('{"search":"amina"}')`); err != nil {
		t.Fatal(err)
	}
	counted := make(chan error, 1)
	conn := tdb.Conn("postgres")
	go func() {
		counted <- as(t, conn, "authenticated", reviewer, `select count_reports('{"search":"amina"}')`)
	}()
	for testdb.Value[int](tdb,
		`select count(*)::int from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`) == 0 {
		select {
		case err := <-counted:
			t.Fatal("the second search did not wait for the first:", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-counted; err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select count(*)::int from staff_trail where action = 'search'`); n != 1 {
		t.Errorf("%d rows of one search", n)
	}
}

// TestReadReport checks the whole report, and its notes with their true author.
func TestReadReport(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	reviewer := staffClaims(2, 2, "aal2")
	if err := as(t, conn, "authenticated", reviewer,
		`insert into report_notes (report_id, body) values ('20000000-0000-4000-8000-000000000001', 'called')`); err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	var r struct {
		Name, Idempotency string
		Notes             []struct{ Body, Author_name string }
	}
	if _, err := tx.Exec(t.Context(),
		`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
		reviewer); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), `select read_report('DW-0000-0001')`).Scan(&r); err != nil {
		t.Fatal(err)
	}
	if r.Name != "Amina" || len(r.Notes) != 1 || r.Notes[0].Author_name != "reviewer@example.org" {
		t.Errorf("%+v", r)
	}
}

// TestListReports checks filters, the escaping of search patterns, and pages.
func TestListReports(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.Exec(`delete from reports;
		insert into reports (reference, product_name, issue_description, region, status, photo_url, name, assigned_to, created_at) values
		('DW-0000-0011', 'A', 'x', 'Bari', 'new', '1700000000000.jpg', 'Amina', null, '2026-01-03'), ('DW-0000-0012', 'B', '50% off: Crème’s', null, 'closed', null, null, '00000000-0000-4000-8000-000000000002', '2026-01-02'),
		('DW-0000-0013', 'C', 'x', 'Bay', 'new', null, null, null, '2026-01-01')`)
	conn := tdb.Conn("postgres")
	list := func(args string) string {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		var names string
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			staffClaims(2, 2, "aal2")); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(t.Context(), `select coalesce(string_agg(product_name, ''), '') from list_reports(`+args+
			`)`).Scan(&names); err != nil {
			t.Fatal(args, err)
		}
		return names
	}
	for args, want := range map[string]string{
		``: "ABC", `'{"status":["new"]}'`: "AC", `'{"status":["new","closed"]}'`: "ABC", `'{"region":"Bari"}'`: "A",
		`'{"region":"-"}'`: "B",
		`'{"photo":true}'`: "A", `'{"mine":true}'`: "B", `'{"search":"AMINA"}'`: "A", `'{"search":"0% o"}'`: "B",
		`'{"search":"%"}'`: "", `'{"search":"am"}'`: "", `'{"search":" c"}'`: "C", `'{"search":"12"}'`: "B",
		`'{"search":"ami"}'`: "A", `'{"search":"_"}'`: "",
		`'{"search":"0011  Amina"}'`: "A", `'{"search":"0012 amina"}'`: "", `'{"search":"CREME''s 50%"}'`: "B",
		`'{"search":"créme”s"}'`: "", `'{"search":"dw 0000 0012"}'`: "B", `'{"search":"0000 0011"}'`: "A",
		`'{"search":"it''s"}'`: "", `'{"product":" b "}'`: "B", `'{"since":"2026-01-02"}'`: "AB",
		`'{"until":"2026-01-02"}'`: "C",
		`'{}', '2026-01-02'`:       "BC", `'{}', '2026-01-02', '00000000-0000-0000-0000-000000000000'`: "C",
		`'{}', null, null, 2`: "AB",
	} {
		if got := list(args); got != want {
			t.Errorf("list_reports(%s): %s, want %s", args, got, want)
		}
	}
}

// TestFigures checks the numbers of the figures, and that they name no product with fewer than
// three reports.
func TestFigures(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.Exec(`delete from reports;
		insert into reports (product_name, issue_description, name, phone, region, status, created_at, first_action_at) values
		('Cream', 'secret1', 'secret2', '0611111111', 'Bari', 'closed', '2026-01-05 10:00+00', '2026-01-05 12:00+00'),
		('cream ', 'secret1', 'secret2', null, 'Bari', 'actioned', '2026-01-06 10:00+00', '2026-01-06 14:00+00'),
		('Cream', 'secret1', null, null, null, 'new', '2026-01-12 10:00+00', null),
		('Rare balm', 'secret1', null, null, 'Bay', 'new', '2026-01-13 10:00+00', null),
		('Old', 'secret1', null, null, 'Bay', 'new', '2025-01-01', null);
		insert into downloads_per_day (resource_id, day, downloads) values
		('30000000-0000-4000-8000-000000000001', '2026-01-05', 2), ('30000000-0000-4000-8000-000000000001', '2026-01-30', 3),
		('30000000-0000-4000-8000-000000000001', '2026-02-01', 4)`)
	conn := tdb.Conn("postgres")
	figures := func(sql string) (got string) {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(t.Context())
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			staffClaims(3, 3, "aal2")); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(t.Context(), sql).Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for sql, want := range map[string]string{
		`select report_figures('2026-01-01')::text`: `{"total": 4, "weeks": [["2026-01-05", 2], ["2026-01-12", 2]], "regions": {"-": 1, "Bay": 1, "Bari": 2}, ` +
			`"products": [["Cream", 3]], "statuses": {"new": 2, "closed": 1, "actioned": 1}, ` +
			`"first_action_hours": {"p90": 3.8, "acted": 2, "median": 3.0, "waiting": 2}}`,
		`select download_figures('2026-01-01')::text`: `[["2026-01-01", "shown", 5], ["2026-02-01", "shown", 4]]`,
	} {
		if got := figures(sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

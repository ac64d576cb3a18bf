package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

const firstReport = "20000000-0000-4000-8000-000000000001"

// result is what change_reports returns for a report.
type result struct {
	Result string
	State  struct {
		Version  int
		Status   string
		Priority string
	}
	By struct{ Name string }
}

// changeReport changes the first report of staffFixture as a caller.
func changeReport(t *testing.T, conn *pgx.Conn, claims string, version int, set string) (got result, err error) {
	t.Helper()
	changes := fmt.Sprintf(`[{"id":%q,"version":%d,"set":%s}]`, firstReport, version, set)
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			claims); err != nil {
			return err
		}
		var list []result
		var text []byte
		if err := tx.QueryRow(t.Context(), `select change_reports($1)`, changes).Scan(&text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		got = list[0]
		return nil
	})
	return got, err
}

// TestChangeReportVersion checks that a change of a version that is not the present one changes
// nothing and returns the present values with their author.
func TestChangeReportVersion(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	reviewer, owner := staffClaims(2, 2, "aal2"), staffClaims(4, 4, "aal2")
	for _, step := range []struct {
		claims  string
		version int
		set     string
		want    string
	}{
		{owner, 1, `{"status":"closed"}`, "done 2 closed normal "},
		{reviewer, 1, `{"status":"reviewing"}`, "conflict 2 closed normal owner@example.org"},
		{reviewer, 1, `{"status":"closed"}`, "done 2 closed normal "}, // the same change
		{reviewer, 1, `{"priority":"urgent"}`, "conflict 2 closed normal owner@example.org"},
		{reviewer, 2, `{"priority":"urgent","seriousness":["death","hospital"],"due_on":"2026-12-01"}`,
			"done 3 closed urgent "},
		{owner, 3, `{"seriousness":null,"due_on":null}`, "done 4 closed urgent "},
	} {
		got, err := changeReport(t, conn, step.claims, step.version, step.set)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %d %s %s %s", got.Result, got.State.Version, got.State.Status, got.State.Priority,
			got.By.Name)
		if line != step.want {
			t.Errorf("%d %s: %s, want %s", step.version, step.set, line, step.want)
		}
	}
	for set, code := range map[string]string{
		`{"product_name":"x"}`: "42501", `{"status":null}`: "42501", `{"version":9}`: "42501",
		`{"duplicate_of":"20000000-0000-4000-8000-000000000009"}`: "PT404",
		`{"duplicate_of":"20000000-0000-4000-8000-000000000001"}`: "23514",
		`{"assigned_to":"00000000-0000-4000-8000-000000000003"}`:  "23514", // an editor
	} {
		if got, err := changeReport(t, conn, reviewer, 4, set); err == nil || stateOf(err) != code {
			t.Errorf("%s: %+v %v, want %s", set, got, err, code)
		}
	}
	if err := as(t, conn, "authenticated", reviewer,
		`insert into report_notes (report_id, body) values ($1, 'called')`, firstReport); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select version from reports where reference = 'DW-0000-0001'`); n != 4 {
		t.Errorf("version %d after a note", n)
	}
}

// TestReportTimeline checks that the timeline has every event of the report for its reviewers, and
// none of another report.
func TestReportTimeline(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	reviewer, owner := staffClaims(2, 2, "aal2"), staffClaims(4, 4, "aal2")
	for _, step := range []struct{ claims, sql string }{
		{reviewer, `select read_report('DW-0000-0001')`},
		{reviewer, `select read_report('DW-0000-0002')`},
		{reviewer, `select change_reports('[{"id":"20000000-0000-4000-8000-000000000001","version":1,
			"set":{"status":"closed"}}]')`},
		{reviewer, `insert into report_notes (report_id, body)
			values ('20000000-0000-4000-8000-000000000001', 'secret')`},
		{reviewer, `select forward_report('DW-0000-0001')`},
		{owner, `select export_reports()`},
		{owner, `select export_reports(until => now() - interval '1 day')`},
	} {
		if err := as(t, conn, "authenticated", step.claims, step.sql); err != nil {
			t.Fatalf("%s: %v", step.sql, err)
		}
	}
	var got string
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			reviewer); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), `
			select string_agg(concat_ws(' ', e ->> 'actor_name', e ->> 'action', nullif(e ->> 'detail', '{}')), e'\n')
			  from jsonb_array_elements(report_timeline($1)) as e`, firstReport).Scan(&got)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"arrive",
		"reviewer@example.org read",
		`reviewer@example.org change {"status": ["new", "closed"]}`,
		"reviewer@example.org note",
		"reviewer@example.org forward",
		"owner@example.org export",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSearchForms checks that the search finds numbers and references in the forms in which people
// write them.
func TestSearchForms(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture+`
		insert into public.reports (reference, product_name, issue_description, phone, phone_e164, batch_number) values
		  ('DW-C7HJ-HV2M', 'first', 'x', '+252 61 100-0001', '+252611000001', 'AB 12/100%'),
		  ('DW-C7HJ-0000', 'second', 'x', '0611 000 001 (home)', null, null),
		  ('DW-1000-0011', 'third', 'x', null, null, null)`)
	conn := tdb.Conn("postgres")
	for words, want := range map[string]string{
		"0611000001": "first second", "+252611000001": "first second", "00252 61 1000001": "first second",
		"061-100 0001": "first second", "611000001": "first second",
		"DW C7HJ": "first second", "dw-c7hj": "first second", "c7hjhv2m": "first", "C7HJ HV2M": "first",
		"DW-C7HJ-HV2M": "first", "DWC7HJHV2M": "first", "dwc7hjoooo": "second", "IOOO OOll": "third",
		"12/100%": "first", "12_100": "", "0611000002": "",
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			staffClaims(2, 2, "aal2")); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(t.Context(), `
			select coalesce(string_agg(product_name, ' ' order by product_name), '')
			  from list_reports(jsonb_build_object('search', $1::text))`, words).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

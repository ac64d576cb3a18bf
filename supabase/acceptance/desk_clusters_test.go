package acceptance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// callAs calls a function as an account and decodes its reply.
func callAs[T any](t *testing.T, conn *pgx.Conn, claims, statement string) (reply T) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			claims); err != nil {
			return err
		}
		var text []byte
		if err := tx.QueryRow(t.Context(), statement).Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, &reply)
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return reply
}

// related is what related_reports returns.
type related struct {
	Total   int
	Reports []struct {
		Reference string
		Reasons   []string
	}
}

func (r related) String() string {
	var lines []string
	for _, report := range r.Reports {
		lines = append(lines, report.Reference+" "+strings.Join(report.Reasons, ","))
	}
	return strings.Join(lines, "; ")
}

// TestRelatedReports checks each reason for which a report belongs to another one, and what is not
// a reason.
func TestRelatedReports(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.Exec(`delete from reports;
		insert into reports (id, reference, product_name, issue_description, batch_number, where_bought, created_at)
		select ('20000000-0000-4000-8000-0000000000' || right(lower('0' || name), 2))::uuid, 'DW-0000-00' || name,
		       product, words, batch, shop, now() - days * interval '1 day'
		  from (values
		('0A', 'Whitening Cream', 'The skin burned and became red after two days', 'LOT 4/77', 'Caafi pharmacy', 0),
		('0B', 'syrup', 'bitter', 'lot-477', null, 200),
		('0C', 'soap', 'foam', 'unknown', 'CAAFI  Pharmacy.', 80),
		('0D', ' whitening cream', 'itching', 'unknown', 'the market', 40),
		('0E', 'lotion', 'Skin burned, it became red after two days', null, null, 20),
		('0F', 'whitening cream', 'another story altogether', null, null, 50),
		('10', 'pill', 'headache', null, null, 0)) as x (name, product, words, batch, shop, days)`)
	conn := tdb.Conn("postgres")
	reviewer := staffClaims(2, 2, "aal2")
	of := func(id string) related {
		return callAs[related](t, conn, reviewer, `select related_reports('20000000-0000-4000-8000-0000000000`+id+`')`)
	}
	if got, want := of("0a").String(),
		"DW-0000-000B batch; DW-0000-000E words; DW-0000-000D product; DW-0000-000C shop"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := of("10"); got.Total != 0 {
		t.Errorf("a report that stands alone has %s", got)
	}

	link := func(id string, linked bool, others ...string) {
		t.Helper()
		for i, other := range others {
			others[i] = "'20000000-0000-4000-8000-0000000000" + other + "'"
		}
		if err := as(t, conn, "authenticated", reviewer, fmt.Sprintf(
			`select link_reports('20000000-0000-4000-8000-0000000000%s', array[%s]::uuid[], %t)`, id,
			strings.Join(others, ","), linked)); err != nil {
			t.Fatal(err)
		}
	}
	link("0f", true, "10")
	link("0a", true, "0b")
	link("10", true, "0a") // joins both groups
	if got, want := of("0f").String(),
		"DW-0000-000A linked; DW-0000-0010 linked; DW-0000-000B linked; DW-0000-000D product"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	link("0a", false)
	link("0b", false)
	link("0f", false) // the last one leaves with it
	if n := testdb.Value[int](tdb, `select count(*)::int from private.linked_reports`); n != 0 {
		t.Errorf("%d reports are linked after each was taken out", n)
	}
	trail := testdb.Value[string](tdb, `select string_agg(subject_name || ' ' || (detail ->> 'linked'), ', ' order by id)
		from staff_trail where action = 'link'`)
	if want := "DW-0000-000F true, DW-0000-0010 true, DW-0000-000A true, DW-0000-000B true, DW-0000-000A true, " +
		"DW-0000-0010 true, DW-0000-000A false, DW-0000-000B false, DW-0000-000F false"; trail != want {
		t.Errorf("trail %s\nwant  %s", trail, want)
	}
}

// TestReportClusters checks the groups, that copies are left out, that a product rises against its
// own past alone, and that one look leaves one row in the trail.
func TestReportClusters(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.Exec(`delete from reports;
		insert into reports (product_name, issue_description, created_at) -- seven a week
		select 'steady', 'x', now() - n * interval '1 day' from generate_series(0, 90) as n;
		insert into reports (product_name, issue_description, batch_number, where_bought, region, created_at)
		select 'rising', 'x', case when n < 2 then 'AB-1' end, 'Shop one', 'Bay', now() - n * interval '1 day'
		  from generate_series(0, 4) as n;
		insert into reports (product_name, issue_description, batch_number, created_at, duplicate_of)
		select 'copies', 'x', 'CD-2', now() - interval '1 day', (select id from reports limit 1)
		  from generate_series(1, 9)`)
	conn := tdb.Conn("postgres")
	type clusters struct {
		Rising []struct {
			Product string
			Now     int
			Weeks   []int
			Chance  float64
		}
		Groups []struct {
			Kind, Label string
			N           int
			Reports     []struct{ Reference string }
		}
	}
	got := callAs[clusters](t, conn, staffClaims(2, 2, "aal2"), `select report_clusters()`)
	if len(got.Rising) != 1 || got.Rising[0].Product != "rising" || got.Rising[0].Now != 5 ||
		!slices.Equal(got.Rising[0].Weeks, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}) {
		t.Errorf("rising: %+v", got.Rising)
	} else if want := math.Pow(1.0/13, 5); math.Abs(got.Rising[0].Chance-want) > want/1000 {
		t.Errorf("chance %g, want %g", got.Rising[0].Chance, want)
	}
	var groups []string
	for _, g := range got.Groups {
		groups = append(groups, fmt.Sprintf("%s %s %d %d", g.Kind, g.Label, g.N, len(g.Reports)))
	}
	if want := []string{"batch AB-1 2 2", "place rising 5 5", "shop Shop one 5 5"}; !slices.Equal(groups, want) {
		t.Errorf("groups %q, want %q", groups, want)
	}
	callAs[clusters](t, conn, staffClaims(2, 2, "aal2"), `select report_clusters()`)
	if n := testdb.Value[int](tdb, `select count(*)::int from staff_trail where subject = 'clusters'`); n != 1 {
		t.Errorf("%d rows in the trail", n)
	}
}

// TestRisingProductName checks that a rising product has its most frequent spelling, and of several
// the latest.
func TestRisingProductName(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.ExecAs("supabase_admin", `delete from reports;
		insert into reports (product_name, issue_description, created_at)
		select name, 'x', now() - hours * interval '1 hour' from (values
		  ('ANA CREAM', 30), (' ana cream', 29), ('Ana cream', 28), ('Ana cream ', 27), ('ana Cream', 26),
		  ('BEEN', 10), ('been', 9), ('Been', 8), ('Been', 24 * 60), ('beeN', 24 * 100), ('beeN', 24 * 101), ('beeN', 24 * 102),
		  ('CAANO', 20), ('caano', 18), ('CaaNo', 19)) as v (name, hours);
		insert into reports (product_name, issue_description, created_at, duplicate_of)
		select 'ANA CREAM', 'x', now() - interval '1 hour', (select id from reports limit 1) from generate_series(1, 5)`)
	type clusters struct{ Rising []struct{ Product string } }
	got := callAs[clusters](t, tdb.Conn("postgres"), staffClaims(2, 2, "aal2"), `select report_clusters()`)
	var names []string
	for _, r := range got.Rising {
		names = append(names, r.Product)
	}
	slices.Sort(names)
	if want := []string{"Ana cream", "Been", "caano"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// TestReportGroupNames checks that a group has the most frequent spelling of its batch, shop and
// product, and of several the latest.
func TestReportGroupNames(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.ExecAs("supabase_admin", `delete from reports;
		insert into reports (product_name, issue_description, batch_number, where_bought, region, created_at)
		select product, 'x', batch, shop, 'Bay', now() - hours * interval '1 hour' from (values
		  ('ANA CREAM', 'LOT 4/77', 'CAAFI PHARMACY', 30), ('Ana cream', 'lot-477 ', 'Caafi pharmacy', 10),
		  (' ana cream', 'lot 4/77', 'caafi pharmacy', 20),
		  ('BEEN', null, 'SHOP', 1), (' Been', null, 'Shop', 8), ('Been ', null, ' Shop ', 9)) as v (product, batch, shop, hours)`)
	type clusters struct {
		Groups []struct{ Kind, Label, Product string }
	}
	var got []string
	for _, g := range callAs[clusters](t, tdb.Conn("postgres"), staffClaims(2, 2, "aal2"), `select report_clusters()`).Groups {
		got = append(got, g.Kind+" "+g.Label+": "+g.Product)
	}
	want := []string{
		"batch lot-477: Ana cream",
		"place Been: Been", "place Ana cream: Ana cream",
		"shop Shop: Been", "shop Caafi pharmacy: Ana cream",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestBinomialTail compares the chance of a rise with sums of the binomial distribution.
func TestBinomialTail(t *testing.T) {
	tdb := newDatabase(t)
	for _, c := range []struct {
		x, n  int
		share float64
	}{{0, 5, 0.2}, {3, 3, 1.0 / 13}, {5, 40, 1.0 / 13}, {200, 2000, 1.0 / 13}} {
		want := 0.0
		for k := c.x; k <= c.n; k++ {
			a, _ := math.Lgamma(float64(c.n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			d, _ := math.Lgamma(float64(c.n - k + 1))
			want += math.Exp(a - b - d + float64(k)*math.Log(c.share) + float64(c.n-k)*math.Log(1-c.share))
		}
		got := testdb.Value[float64](tdb, fmt.Sprintf(`select private.binomial_tail(%d, %d, %v)`, c.x, c.n, c.share))
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("x=%d n=%d: %v, want %v", c.x, c.n, got, want)
		}
	}
}

package acceptance

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// manyReports adds 20,000 reports of 139 days: 300 products, 2,000 batches, 400 shops, and texts of
// 30 words each. One in 50 is serious, one in 40 has a due date, one in 200 has a photo, and 20 are
// assigned.
const manyReports = `
	insert into public.reports (product_name, batch_number, where_bought, region, issue_description, name, phone,
	  status, created_at, seriousness, due_on, photo_url, assigned_to)
	select 'Product ' || n * 7919 % 300, case when n % 3 > 0 then 'LOT ' || n::bigint * 104729 % 2000 end,
	       'A shop beside the market ' || n::bigint * 1299709 % 400, (array['Bari', 'Bay', 'Banaadir', null])[1 + n % 4],
	       (select string_agg(substr(md5((n * 31 + w)::text), 1, 3 + (n + w) % 6), ' ') from generate_series(1, 29) as w)
	         || ' burned',
	       'Name ' || n, '061' || (1000000 + n),
	       (array['new', 'reviewing', 'actioned', 'closed'])[1 + n % 4]::report_status,
	       now() - n * interval '10 minutes',
	       case when n % 50 = 0 then '{hospital}'::report_seriousness[] end,
	       case when n % 40 = 0 then current_date + (n % 7 - 3)::integer end,
	       case when n % 200 = 0 then n || '.webp' end,
	       case when n % 1000 = 0 then '00000000-0000-4000-8000-000000000002'::uuid end
	  from generate_series(1, 20000) as n;
	update public.reports set reference = 'DW-2222-2222' where phone = '0611000100';
	analyze public.reports`

// BenchmarkDesk measures what the desk asks for with 20,000 reports, as a reviewer. The goal is
// 200 ms of server time for each.
func BenchmarkDesk(b *testing.B) {
	tdb := newDatabase(b)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.Exec(manyReports)
	conn := tdb.Conn("postgres")
	for _, q := range []struct{ name, sql string }{
		{"list", `select list_reports()`},
		{"oldest", `select list_reports('{"order": "oldest"}')`},
		{"second-page", `select list_reports('{}', now() - interval '60 days', gen_random_uuid(), 500)`},
		{"status", `select list_reports('{"status": ["closed"]}')`},
		{"region", `select list_reports('{"region": "Bari"}')`},
		{"no-region", `select list_reports('{"region": "-"}')`},
		{"product", `select list_reports('{"product": "product 7"}')`},
		{"days", `select list_reports(jsonb_build_object('since', current_date - 120, 'until', current_date - 100))`},
		{"photo", `select list_reports('{"photo": true}')`},
		{"mine", `select list_reports('{"mine": true}')`},
		{"unassigned", `select list_reports('{"unassigned": true, "order": "oldest"}')`},
		{"serious", `select list_reports('{"serious": true}')`},
		{"overdue", `select list_reports(jsonb_build_object('overdue', current_date))`},
		{"all-filters", `select list_reports(jsonb_build_object('status', '["new"]'::jsonb, 'region', 'Bari', 'photo', true,
		  'mine', true, 'serious', true, 'overdue', current_date, 'order', 'oldest'))`},
		{"search", `select list_reports('{"search": "burned"}')`},
		{"number", `select list_reports('{"search": "+252 61 100 0100"}')`},
		{"rare-word", `select list_reports('{"search": "Product 299"}')`},
		{"short-word", `select list_reports('{"search": "9q"}')`},
		{"counts", `select count_reports()`},
		{"count-of-search", `select count_reports('{"search": "burned"}')`},
		{"read", `select read_report('DW-2222-2222')`},
		{"related", `select related_reports(id) from reports where reference = 'DW-2222-2222'`},
		{"clusters", `select report_clusters()`},
	} {
		b.Run(q.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := inTransactionAs(b, conn, staffClaims(2, 2, "aal2"), q.sql); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "slowest-ms")
		})
	}
}

// inTransactionAs runs a statement as an account and reads all rows.
func inTransactionAs(b *testing.B, conn *pgx.Conn, claims, sql string) error {
	return pgx.BeginFunc(b.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(b.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
			claims); err != nil {
			return err
		}
		_, err := tx.Exec(b.Context(), sql)
		return err
	})
}

package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/functions"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// BenchmarkSubmitReport compares submit-report (HTTP handler, validation, limit, idempotency,
// search for duplicates, notice) with bare inserts on the same Postgres, which syncs to disk, in
// turns:
//
//	row/s      one insert of the report's row
//	rows/s     one insert of all rows of an accepted report: report, key and job
//	reports/s  the function
//
// Each figure comes from the median turn, so other load on the machine hardly matters. The goal is
// a ratio-rows of 0.7.
func BenchmarkSubmitReport(b *testing.B) {
	host, pool := durable(b)
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			var function, row, rows []time.Duration
			for b.Loop() {
				row = append(row, together(writers, func() { bareInsert(b, pool) }))
				rows = append(rows, together(writers, func() { bareRows(b, pool) }))
				function = append(function, together(writers, func() { submit(b, host) }))
			}
			perSecond := func(turns []time.Duration) float64 { return float64(writers) / median(turns).Seconds() }
			b.ReportMetric(perSecond(row), "row/s")
			b.ReportMetric(perSecond(rows), "rows/s")
			b.ReportMetric(perSecond(function), "reports/s")
			b.ReportMetric(perSecond(function)/perSecond(row), "ratio-row")
			b.ReportMetric(perSecond(function)/perSecond(rows), "ratio-rows")
		})
	}
}

// BenchmarkTrackDownload counts downloads of one resource by more and more clients. The rate must
// grow with them.
func BenchmarkTrackDownload(b *testing.B) {
	host, pool := durable(b)
	id := uuid.NewString()
	if _, err := pool.Pgx().Exec(b.Context(), `insert into resources (id, title, category) values ($1, 'A', 'B')`,
		id); err != nil {
		b.Fatal(err)
	}
	total := 0
	for _, clients := range []int{1, 4, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took += together(clients, func() {
					for range 10 {
						if code := post(host, "track-download", `{"resourceId":"`+id+`"}`).Code; code != http.StatusOK {
							b.Error(code)
						}
					}
				})
				total += clients * 10
			}
			b.ReportMetric(float64(b.N*clients*10)/took.Seconds(), "downloads/s")
		})
	}
	var count int
	if err := pool.Pgx().QueryRow(b.Context(), `select download_count from resources where id = $1`,
		id).Scan(&count); err != nil || count != total {
		b.Errorf("counted %d of %d: %v", count, total, err)
	}
}

// BenchmarkFirstCall measures the first report after a start, before anything is connected,
// prepared or cached.
func BenchmarkFirstCall(b *testing.B) {
	_, db := durable(b)
	url := db.Pgx().Config().ConnString()
	for b.Loop() {
		b.StopTimer()
		fresh, err := pool.Open(b.Context(), pool.Config{URL: url})
		if err != nil {
			b.Fatal(err)
		}
		host := benchHost(b, fresh)
		b.StartTimer()
		submit(b, host)
		b.StopTimer()
		fresh.Close()
		b.StartTimer()
	}
}

// durable starts a Postgres that syncs to disk, with the schema of the product, and hosts the
// functions on it.
func durable(b *testing.B) (*host.Host, *pool.Pool) {
	b.Helper()
	ctx := context.Background()
	source, err := server.FindPackage(".")
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // for Postgres' own user
		b.Fatal(err)
	}
	pg, err := server.Start(ctx, server.Options{Source: source, Data: dir + "/data"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = pg.Stop(ctx) })
	migrated(b, pg.URL(server.Superuser), func(c *pgx.Conn) error { return migrate.Platform(ctx, c) })
	migrated(b, pg.URL("postgres"), func(c *pgx.Conn) error { return migrateProject(ctx, c) })
	pool, err := pool.Open(ctx, pool.Config{URL: pg.URL("postgres"), MaxConns: 10})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	box, err := jobs.New(jobs.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Migrate(ctx); err != nil {
		b.Fatal(err)
	}
	return benchHost(b, pool), pool
}

// benchHost hosts the functions. Every call comes from another client, so the limits count each of
// them.
func benchHost(b *testing.B, pool *pool.Pool) *host.Host {
	b.Helper()
	box, err := jobs.New(jobs.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	host, err := host.New(host.Options{
		Functions: functions.All, DB: pool, Outbox: box, Log: slog.New(slog.DiscardHandler),
		Verify: func(string) (json.RawMessage, error) { return json.RawMessage(`{"role":"anon"}`), nil },
		Client: func(*http.Request) string { return uuid.NewString() },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = host.Close(context.Background()) })
	return host
}

func migrated(b *testing.B, url string, apply func(*pgx.Conn) error) {
	b.Helper()
	c, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := apply(c); err != nil {
		b.Fatal(err)
	}
}

// together runs fn on n goroutines at once and returns the duration.
func together(n int, fn func()) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(fn)
	}
	wg.Wait()
	return time.Since(start)
}

// median returns the median.
func median(turns []time.Duration) time.Duration {
	slices.Sort(turns)
	return turns[len(turns)/2]
}

func bareInsert(b *testing.B, db *pool.Pool) {
	_, err := db.Exec(b.Context(), pool.Caller{}, `
insert into public.reports (product_name, issue_description, location, region, district, phone, phone_e164, language)
values ($1, $2, $3, $4, $5, $6, $7, $8)`, "Cream "+uuid.NewString(), "It burned.", "Banaadir, Hodan", "Banaadir",
		"Hodan", "0612345678", "+252612345678", "en")
	if err != nil {
		b.Error(err)
	}
}

// bareRows inserts the rows of an accepted report and does nothing else.
func bareRows(b *testing.B, db *pool.Pool) {
	_, err := db.Exec(b.Context(), pool.Caller{}, `
with report as (
  insert into public.reports (product_name, issue_description, location, region, district, phone, phone_e164, language)
  values ($1, $2, $3, $4, $5, $6, $7, $8) returning id, reference
), key as (
  insert into private.idempotency_keys (key_hash, body_hash, report_id, reference, expires_at)
  select encode(sha256($1::text::bytea), 'hex'), 'x', id, reference, now() + interval '30 days' from report
)
insert into river.river_job (kind, queue, max_attempts, args)
select 'notify_by_mail', 'bench', 25, jsonb_build_object('kind', 'report.received', 'link', jsonb_build_object('table', 'reports', 'column', 'reference', 'value', reference)) from report`,
		"Cream "+uuid.NewString(), "It burned.", "Banaadir, Hodan", "Banaadir", "Hodan", "0612345678", "+252612345678",
		"en")
	if err != nil {
		b.Error(err)
	}
}

func submit(b *testing.B, host http.Handler) {
	w := post(host, "submit-report", `{"product_name":"Cream `+uuid.NewString()+
		`","issue_description":"It burned.","location":"Banaadir, Hodan","phone":"0612345678"}`)
	if w.Code != http.StatusOK {
		b.Error(w.Code, w.Body)
	}
}

func post(host http.Handler, name, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/"+name, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer a.b.c")
	w := httptest.NewRecorder()
	host.ServeHTTP(w, r)
	return w
}

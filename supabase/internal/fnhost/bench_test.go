package fnhost

import (
	"context"
	"fmt"
	"io"
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
	"daawo/functions/edge"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/migrate"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/postgres"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// BenchmarkOverhead compares a function in the host with the bare handler, call by call in one run. The goal is 10 µs.
func BenchmarkOverhead(b *testing.B) {
	answer := func(w http.ResponseWriter) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{"message":"hello"}`))
		return err
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = answer(w) })
	host := hosting(b, map[string]edge.Func{"hello": {Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { return answer(w) }}})
	r := httptest.NewRequest(http.MethodPost, "/hello", http.NoBody)
	r.Header.Set("Authorization", `Bearer x.{"role":"anon"}.y`)
	var inHost, alone time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		bare.ServeHTTP(httptest.NewRecorder(), r)
		mid := time.Now()
		host.ServeHTTP(httptest.NewRecorder(), r)
		alone += mid.Sub(start)
		inHost += time.Since(mid)
	}
	n := float64(b.N)
	b.ReportMetric(float64(alone.Nanoseconds())/n/1000, "µs-bare")
	b.ReportMetric(float64(inHost.Nanoseconds())/n/1000, "µs-hosted")
	b.ReportMetric(float64((inHost-alone).Nanoseconds())/n/1000, "µs-overhead")
}

// BenchmarkSubmitReport compares the whole of submit-report (HTTP handler, validation, limit, idempotency, duplicate search,
// notification job) with bare inserts on the same Postgres, which syncs to disk, in turns:
//
//	row/s      one insert of the report's row, and nothing else
//	rows/s     one insert of what must be durable when a report is accepted: report, key and job
//	reports/s  the function
//
// each by the median turn, so that what else the machine does for a moment says nothing. The goal is a ratio of 0.7 to the
// same durable insert alone: ratio-rows.
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

// BenchmarkTrackDownload raises the count of one resource from more and more clients: the rate must grow with them.
func BenchmarkTrackDownload(b *testing.B) {
	host, pool := durable(b)
	id := uuid.NewString()
	if _, err := pool.Pgx().Exec(b.Context(), `insert into resources (id, title, category) values ($1, 'A', 'B')`, id); err != nil {
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
	if err := pool.Pgx().QueryRow(b.Context(), `select download_count from resources where id = $1`, id).Scan(&count); err != nil || count != total {
		b.Errorf("counted %d of %d: %v", count, total, err)
	}
}

// BenchmarkFirstCall is the time of the first report after a start, when nothing is connected, prepared or known yet.
func BenchmarkFirstCall(b *testing.B) {
	_, pool := durable(b)
	url := pool.Pgx().Config().ConnString()
	for b.Loop() {
		b.StopTimer()
		fresh, err := db.Open(b.Context(), db.Config{URL: url})
		if err != nil {
			b.Fatal(err)
		}
		host := hostingSite(b, fresh)
		b.StartTimer()
		submit(b, host)
		b.StopTimer()
		fresh.Close()
		b.StartTimer()
	}
}

// BenchmarkTwelveUsers has twelve virtual users call a function over HTTP without pause for three minutes (five seconds
// with -short), the shape of Supabase's own k6 test "simple": run it with -benchtime 1x.
func BenchmarkTwelveUsers(b *testing.B) {
	host := hosting(b, map[string]edge.Func{"hello": {Handler: hello}})
	server := httptest.NewServer(host)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 12
	length := 3 * time.Minute
	if testing.Short() {
		length = 5 * time.Second
	}
	var mu sync.Mutex
	var took []time.Duration
	for b.Loop() {
		together(12, func() {
			var mine []time.Duration
			for end := time.Now().Add(length); time.Now().Before(end); {
				start := time.Now()
				if err := callHello(client, server.URL); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
}

func callHello(client *http.Client, url string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/hello", strings.NewReader(`{}`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", `Bearer x.{"role":"anon"}.y`)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("hello answered %s", res.Status)
	}
	return nil
}

// durable starts a Postgres that syncs to disk, with the site's schema, and hosts the functions on it.
func durable(b *testing.B) (*Host, *db.Pool) {
	b.Helper()
	ctx := context.Background()
	source, err := postgres.FindPackage(".")
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
	server, err := postgres.Start(ctx, postgres.Options{Source: source, Data: dir + "/data"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop(ctx) })
	migrated(b, server.URL(postgres.Superuser), func(c *pgx.Conn) error { return migrate.Platform(ctx, c) })
	migrated(b, server.URL("postgres"), func(c *pgx.Conn) error {
		_, err := migrate.Apply(ctx, c, os.DirFS("../.."))
		return err
	})
	pool, err := db.Open(ctx, db.Config{URL: server.URL("postgres"), MaxConns: 10})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	box, err := outbox.New(outbox.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if err := box.Migrate(ctx); err != nil {
		b.Fatal(err)
	}
	return hostingSite(b, pool), pool
}

// hostingSite hosts the site's functions for thousands of visitors, each of whom is counted.
func hostingSite(b *testing.B, pool *db.Pool) *Host {
	b.Helper()
	box, err := outbox.New(outbox.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return hosting(b, functions.All, func(o *Options) {
		o.DB, o.Outbox = pool, box
		o.Client = func(*http.Request) string { return uuid.NewString() }
	})
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

// together runs fn on so many goroutines at once and says how long that took.
func together(n int, fn func()) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(fn)
	}
	wg.Wait()
	return time.Since(start)
}

// median is the middle one.
func median(turns []time.Duration) time.Duration {
	slices.Sort(turns)
	return turns[len(turns)/2]
}

func bareInsert(b *testing.B, pool *db.Pool) {
	_, err := pool.Exec(b.Context(), db.Caller{}, `
insert into public.reports (product_name, issue_description, location, region, district, phone, phone_e164, language)
values ($1, $2, $3, $4, $5, $6, $7, $8)`, "Cream "+uuid.NewString(), "It burned.", "Banaadir, Hodan", "Banaadir", "Hodan", "0612345678", "+252612345678", "en")
	if err != nil {
		b.Error(err)
	}
}

// bareRows inserts what one accepted report is, with nothing around it.
func bareRows(b *testing.B, pool *db.Pool) {
	_, err := pool.Exec(b.Context(), db.Caller{}, `
with report as (
  insert into public.reports (product_name, issue_description, location, region, district, phone, phone_e164, language)
  values ($1, $2, $3, $4, $5, $6, $7, $8) returning id, reference
), key as (
  insert into private.idempotency_keys (key_hash, body_hash, report_id, reference, expires_at)
  select encode(sha256($1::text::bytea), 'hex'), 'x', id, reference, now() + interval '30 days' from report
)
insert into river.river_job (kind, queue, max_attempts, args)
select 'notify_by_mail', 'bench', 25, jsonb_build_object('report_id', id, 'reference', reference, 'kind', 'report.received') from report`,
		"Cream "+uuid.NewString(), "It burned.", "Banaadir, Hodan", "Banaadir", "Hodan", "0612345678", "+252612345678", "en")
	if err != nil {
		b.Error(err)
	}
}

func submit(b *testing.B, host http.Handler) {
	w := post(host, "submit-report", `{"product_name":"Cream `+uuid.NewString()+`","issue_description":"It burned.","location":"Banaadir, Hodan","phone":"0612345678"}`)
	if w.Code != http.StatusOK {
		b.Error(w.Code, w.Body)
	}
}

func post(host http.Handler, name, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/"+name, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", `Bearer x.{"role":"anon"}.y`)
	w := httptest.NewRecorder()
	host.ServeHTTP(w, r)
	return w
}

package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/testdb"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/robfig/cron/v3"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// newOutbox makes an outbox on a database of its own, started when functions is given or start is true.
func newOutbox(t testing.TB, tdb *testdb.DB, o Options, functions Functions, start bool) *Outbox {
	t.Helper()
	pool, err := db.Open(t.Context(), db.Config{URL: tdb.URL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	o.DB, o.Log = pool, slog.New(slog.DiscardHandler)
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if start {
		if err := b.Start(t.Context(), functions); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return b
}

// send sends what fn adds as functions do: in a transaction of service_role.
func send(t testing.TB, b *Outbox, fn func(*pgx.Batch) error) {
	t.Helper()
	if err := sendAs(t, b, "service_role", fn); err != nil {
		t.Fatal(err)
	}
}

func sendAs(t testing.TB, b *Outbox, role string, fn func(*pgx.Batch) error) error {
	t.Helper()
	var batch pgx.Batch
	if err := fn(&batch); err != nil {
		return err
	}
	return b.DB.Batch(t.Context(), db.Caller{Role: role}, &batch)
}

// outgoing collects mails, and fails while down.
type outgoing struct {
	mu   sync.Mutex
	sent []mail.Message
	down atomic.Bool
	took atomic.Int64 // attempts
}

func (o *outgoing) send(_ context.Context, m mail.Message) error {
	o.took.Add(1)
	if o.down.Load() {
		return errors.New("connection refused")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, m)
	return nil
}

func (o *outgoing) mails() []mail.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]mail.Message(nil), o.sent...)
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not happen within 10 s", what)
}

var notice = edge.Notice{
	Kind: "report.received", Subject: "New product report DW-7K3M-9QXA", ReportID: "0190", Reference: "DW-7K3M-9QXA",
	Facts: []edge.Fact{{Name: "Region", Value: "Banaadir"}},
}

func TestNoticeReachesEveryChannelAndADeadOneHoldsUpNone(t *testing.T) {
	var out outgoing
	hooks := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		hooks <- r
		bodies <- body
	}))
	defer hook.Close()
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}, SiteURL: "https://example.org", WebhookURL: hook.URL, WebhookSecret: "secret"}, nil, true)
	send(t, b, func(batch *pgx.Batch) error { return b.Notify(batch, notice) })
	waitFor(t, "the mail", func() bool { return len(out.mails()) == 1 })
	m := out.mails()[0]
	if m.Subject != notice.Subject || m.To[0] != "admin@example.org" || !strings.Contains(m.Text, "Region: Banaadir") ||
		!strings.Contains(m.Text, "daawo reports show DW-7K3M-9QXA") {
		t.Errorf("%+v", m)
	}
	r, body := <-hooks, <-bodies
	if want := Sign("secret", r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), body); r.Header.Get("Webhook-Signature") != want {
		t.Errorf("signature %q, want %q", r.Header.Get("Webhook-Signature"), want)
	}
	var told struct{ Kind, Reference, Text string }
	if err := json.Unmarshal(body, &told); err != nil || told.Kind != notice.Kind || told.Reference != notice.Reference || told.Text == "" {
		t.Errorf("%s %v", body, err)
	}

	b.WebhookURL = "http://127.0.0.1:1" // nobody there
	send(t, b, func(batch *pgx.Batch) error { return b.Notify(batch, notice) })
	waitFor(t, "the second mail", func() bool { return len(out.mails()) == 2 })
	waitFor(t, "the dead channel's retry", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where kind = 'notify_by_webhook' and state = 'retryable'`) == 1
	})
}

// TestWebhookIsNotRedirected: a POST that is led elsewhere arrives as a GET without its body, or at somebody unknown.
func TestWebhookIsNotRedirected(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		var followed atomic.Bool
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				followed.Store(true)
				return
			}
			http.Redirect(w, r, "/elsewhere", status)
		}))
		b := Outbox{Options: Options{WebhookURL: hook.URL}}
		err := b.postNotice(t.Context(), edge.Notice{Subject: "x"}, "1", time.Now())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || followed.Load() {
			t.Errorf("%d counts as delivered: %v", status, err)
		}
		hook.Close()
	}
}

// TestAFactIsOneLine: nobody forges a line of a notice.
func TestAFactIsOneLine(t *testing.T) {
	n := edge.Notice{Facts: []edge.Fact{{Name: "Product a\r\nRegion b\u2028c\u2029d\u0085e\vf\tg", Value: "1\n2"}}}
	text, err := (&Outbox{}).noticeText(t.Context(), n)
	if want := "Product a  Region b c d e f g: 1 2\n"; err != nil || text != want {
		t.Errorf("%q %v, want %q", text, err, want)
	}
}

func TestNothingIsSentForATransactionThatFails(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	err := sendAs(t, b, "service_role", func(batch *pgx.Batch) error {
		err := b.Notify(batch, notice)
		batch.Queue(`select 1/0`)
		return err
	})
	if !db.IsCode(err, "22012") {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job`); n != 0 {
		t.Errorf("%d jobs", n)
	}
	for _, role := range []string{"anon", "authenticated"} {
		err := sendAs(t, b, role, func(batch *pgx.Batch) error { return b.Notify(batch, notice) })
		if !db.IsCode(err, "42501") {
			t.Errorf("%s may add jobs: %v", role, err)
		}
	}
}

// The link of a notice opens the very row: Studio's table editor wants the table's object id and a filter of the form
// column:operator:value.
func TestNoticeLinksToTheRowInStudio(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}, StudioURL: "https://studio.example.org/"}, nil, false)
	if err := b.mailNotice(t.Context(), notice, "1"); err == nil {
		t.Error("a notice was sent with a link into nothing")
	}
	tdb.Exec(`create table public.reports (reference text)`)
	if err := b.mailNotice(t.Context(), notice, "1"); err != nil {
		t.Fatal(err)
	}
	var table uint32
	if err := b.DB.Pgx().QueryRow(t.Context(), `select oid from pg_class where relname = 'reports'`).Scan(&table); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("https://studio.example.org/project/default/editor/%d?schema=public&filter=reference%%3Aeq%%3ADW-7K3M-9QXA", table)
	if text := out.mails()[0].Text; !strings.Contains(text, want) {
		t.Errorf("no %s in %s", want, text)
	}
}

// The mail server is away for a week: the worker and the pauses as they are, on a clock of the test's own.
func TestMailServerDownForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out outgoing
		out.down.Store(true)
		b := &Outbox{Options: Options{Mail: out.send, Admins: []string{"admin@example.org"}}}
		back := time.Now().Add(7 * 24 * time.Hour)
		job := &river.Job[notifyByMail]{JobRow: &rivertype.JobRow{ID: 1, MaxAttempts: maxAttempts}, Args: notifyByMail{notice}}
		for job.Attempt = 1; ; job.Attempt++ {
			out.down.Store(time.Now().Before(back))
			if b.workNotifyByMail(t.Context(), job) == nil {
				break
			}
			if job.Attempt == job.MaxAttempts {
				t.Fatalf("given up after %d attempts, %v before the server came back", job.Attempt, time.Until(back))
			}
			time.Sleep(time.Until(retryPolicy{}.NextRetry(job.JobRow)))
		}
		if late := time.Since(back); late > longPause {
			t.Errorf("the mail came %v after the server", late)
		}
		if n := len(out.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
		}
		if n := out.took.Load(); n > maxAttempts {
			t.Errorf("%d attempts", n)
		}
	})
}

// In the database: a job that fails stays, is tried again when its time comes, and is then done once.
func TestFailedJobIsTriedAgain(t *testing.T) {
	var out outgoing
	out.down.Store(true)
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, true)
	send(t, b, func(batch *pgx.Batch) error { return b.Notify(batch, notice) })
	for attempt := range 3 {
		waitFor(t, "a failed attempt", func() bool {
			return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'retryable' and attempt = $1`, attempt+1) == 1
		})
		if left := testdb.Value[float64](tdb, `select extract(epoch from scheduled_at - now())::float8 from river.river_job`); left < 10 {
			t.Errorf("after attempt %d the next one is in %.0f s", attempt+1, left)
		}
		out.down.Store(attempt < 2)
		tdb.Exec(`update river.river_job set state = 'available', scheduled_at = now()`)
		if _, err := b.DB.Pgx().Exec(t.Context(), `select pg_notify('river.river_insert', '{"queue":"mail"}')`); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the mail", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 1
	})
	if n := len(out.mails()); n != 1 {
		t.Errorf("%d mails, want 1", n)
	}
}

// fake are the functions of a test.
type fake struct {
	crons map[string]string
	ran   atomic.Int64
	job   func(function, job string, args []byte) error
}

func (f *fake) Schedules() map[string]string { return f.crons }
func (f *fake) RunSchedule(context.Context, string) error {
	f.ran.Add(1)
	return nil
}
func (f *fake) RunJob(_ context.Context, function, job string, args []byte) error {
	return f.job(function, job, args)
}

func TestPoisonIsSetAside(t *testing.T) {
	var done atomic.Int64
	f := &fake{job: func(_, job string, args []byte) error {
		if job == "poison" {
			panic("always")
		}
		if string(args) != `{"n": 1}` && string(args) != `{"n":1}` {
			return fmt.Errorf("args %s", args)
		}
		done.Add(1)
		return nil
	}}
	tdb := testdb.New(t)
	registry := prometheus.NewRegistry()
	b := newOutbox(t, tdb, Options{Meter: registry}, f, false)
	send(t, b, func(batch *pgx.Batch) error {
		for range 5 {
			if err := b.EnqueueFunction(batch, "x", "poison", nil); err != nil {
				return err
			}
		}
		return b.EnqueueFunction(batch, "x", "good", map[string]int{"n": 1})
	})
	tdb.Exec(`update river.river_job set max_attempts = 1 where args ->> 'job' = 'poison'`)
	if err := b.Start(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	waitFor(t, "the good job", func() bool { return done.Load() == 1 })
	waitFor(t, "setting the poison aside", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'discarded'`) == 5
	})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var discarded float64
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() == "discarded" {
					discarded += m.GetGauge().GetValue()
				}
			}
		}
	}
	if discarded != 5 {
		t.Errorf("the metric says %v discarded jobs, want 5", discarded)
	}
}

func TestScheduleRunsOnceAcrossReplicasAndRestarts(t *testing.T) {
	tdb := testdb.New(t)
	f := &fake{crons: map[string]string{"weekly": "0 6 * * 1"}}
	fresh := newOutbox(t, tdb, Options{}, f, true)
	time.Sleep(300 * time.Millisecond)
	if err := fresh.Close(t.Context()); err != nil || f.ran.Load() != 0 {
		t.Fatalf("on a fresh installation it ran %d times: %v", f.ran.Load(), err)
	}
	tdb.Exec(`update river.river_migration set created_at = now() - interval '8 days'`) // now it was due and is caught up
	first := newOutbox(t, tdb, Options{}, f, true)
	second := newOutbox(t, tdb, Options{}, f, true)
	waitFor(t, "the run", func() bool { return f.ran.Load() > 0 })
	if err := errors.Join(first.Close(t.Context()), second.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	newOutbox(t, tdb, Options{}, f, true)
	waitFor(t, "a leader", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_leader`) == 1
	})
	time.Sleep(200 * time.Millisecond)
	if n := f.ran.Load(); n != 1 {
		t.Errorf("it ran %d times for one due time", n)
	}
}

func TestLastDue(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC) // a Wednesday
	for expression, want := range map[string]time.Time{
		"*/5 * * * *": now,
		"17 * * * *":  time.Date(2026, 3, 4, 12, 17, 0, 0, time.UTC),
		"0 6 * * 1":   time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC),
		"31 12 * * *": time.Date(2026, 3, 3, 12, 31, 0, 0, time.UTC),
		"0 0 1 1 *":   {}, // too long ago to be made up for
	} {
		s, err := cron.ParseStandard("TZ=UTC " + expression)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := lastDue(s, now); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%s: %v %v, want %v", expression, got, ok, want)
		}
	}
}

func TestMailIsForgottenOnceSent(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send}, nil, true)
	secret := mail.Message{To: []string{"user@example.org"}, Subject: "Sign in", Text: "the secret link"}
	err := b.DB.Tx(t.Context(), db.Caller{Role: "supabase_auth_admin"}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		return b.SendMail(t.Context(), tx, secret)
	})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the mail", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 1
	})
	if m := out.mails()[0]; m.Text != "the secret link" || m.ID == "" {
		t.Errorf("%+v", m)
	}
	if row := testdb.Value[string](tdb, `select to_jsonb(j)::text from river.river_job j`); strings.Contains(row, "secret") {
		t.Errorf("the link is still there: %s", row)
	}
}

func TestPhotoIsCleanedThroughTheStorageService(t *testing.T) {
	var stored atomic.Value
	stored.Store("photo with place")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer key":
			w.WriteHeader(http.StatusForbidden)
		case strings.HasSuffix(r.URL.Path, "/gone.jpg"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"statusCode":"404","error":"not_found","message":"Object not found"}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, stored.Load().(string))
		case r.Header.Get("X-Upsert") == "true" && r.Header.Get("Content-Type") == "image/png":
			body, _ := io.ReadAll(r.Body)
			stored.Store(string(body))
		}
	}))
	defer server.Close()
	tdb := testdb.NewSite(t)
	b := newOutbox(t, tdb, Options{Storage: Storage{server.URL, func() string { return "key" }}, Clean: func(c []byte) ([]byte, string, bool) {
		return []byte(strings.ReplaceAll(string(c), " with place", "")), "image/png", strings.HasPrefix(string(c), "photo")
	}}, nil, true)
	tdb.Exec(`insert into reports (product_name, issue_description, photo_url, photo_metadata) values ('a', 'b', '1.jpg', 'pending')`)
	cleaned := func(jobs int, name, state string) {
		t.Helper()
		send(t, b, func(batch *pgx.Batch) error { return b.CleanPhoto(batch, "report-photos", name) })
		waitFor(t, "the cleaning of "+name, func() bool {
			return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == jobs
		})
		if got := testdb.Value[string](tdb, `select photo_metadata::text from reports`); got != state {
			t.Errorf("after %s the report says %s, want %s", name, got, state)
		}
	}
	cleaned(1, "gone.jpg", "pending")
	cleaned(2, "1.jpg", "removed")
	if stored.Load() != "photo" {
		t.Errorf("stored: %v", stored.Load())
	}
	stored.Store("nothing that can be read, with place")
	cleaned(3, "1.jpg", "kept")
	if stored.Load() != "nothing that can be read, with place" {
		t.Errorf("a file that cannot be read became %v", stored.Load())
	}
}

// TestPhotosAreCleanedOneAtATime: each may need much of a small server's memory.
func TestPhotosAreCleanedOneAtATime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "photo") }))
	defer server.Close()
	var running, most atomic.Int64
	tdb := testdb.NewSite(t)
	b := newOutbox(t, tdb, Options{Storage: Storage{server.URL, func() string { return "key" }}, Clean: func(c []byte) ([]byte, string, bool) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(20 * time.Millisecond)
		running.Add(-1)
		return c, "image/jpeg", true
	}}, nil, true)
	send(t, b, func(batch *pgx.Batch) error {
		for i := range 5 {
			if err := b.CleanPhoto(batch, "report-photos", fmt.Sprintf("%d.jpg", i)); err != nil {
				return err
			}
		}
		return nil
	})
	waitFor(t, "the photos", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 5
	})
	if most.Load() != 1 {
		t.Errorf("%d photos at once, want 1", most.Load())
	}
}

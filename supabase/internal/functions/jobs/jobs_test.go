package jobs

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

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// newOutbox returns an outbox on the database, which is started if start is true.
func newOutbox(t testing.TB, tdb *testdb.DB, o Options, functions Functions, start bool) *Outbox {
	t.Helper()
	pool, err := pool.Open(t.Context(), pool.Config{URL: tdb.URL("postgres")})
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

// send runs the batch that fn fills in a transaction of service_role, as functions do.
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
	return b.DB.Batch(t.Context(), pool.Caller{Role: role}, &batch)
}

// outgoing is a mail server that collects mails, and fails while down.
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

// waitFor waits up to a minute until ok returns true.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not happen within a minute", what)
}

var notice = edge.Notice{
	Kind: "todo.created", Title: "New todo", Facts: []edge.Fact{{Name: "Priority", Value: "high"}},
	Link: &edge.Row{Table: "todos", Column: "code", Value: "T-17"},
}

// addNotice adds the notice to a batch.
func (b *Outbox) addNotice(batch *pgx.Batch) error { return b.Add(batch, notice) }

// TestNoticeChannels checks that a notice goes to mail and webhook, signed, and that a dead webhook
// does not delay the mail.
func TestNoticeChannels(t *testing.T) {
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
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"},
		SiteURL: "https://example.org", WebhookURL: hook.URL, WebhookSecret: "secret"}, nil, true)
	send(t, b, b.addNotice)
	waitFor(t, "the mail", func() bool { return len(out.mails()) == 1 })
	m := out.mails()[0]
	if m.Subject != notice.Title || m.To[0] != "admin@example.org" || !strings.Contains(m.Text, "Priority: high") {
		t.Errorf("%+v", m)
	}
	r, body := <-hooks, <-bodies
	if want := Sign("secret", r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"),
		body); r.Header.Get("Webhook-Signature") != want {
		t.Errorf("signature %q, want %q", r.Header.Get("Webhook-Signature"), want)
	}
	var posted struct {
		Kind, Subject, Text string
		Link                edge.Row
	}
	if err := json.Unmarshal(body, &posted); err != nil || posted.Kind != notice.Kind ||
		posted.Subject != notice.Title ||
		posted.Link != *notice.Link || posted.Text == "" {
		t.Errorf("%s %v", body, err)
	}

	b.WebhookURL = "http://127.0.0.1:1" // no server
	send(t, b, b.addNotice)
	waitFor(t, "the second mail", func() bool { return len(out.mails()) == 2 })
	waitFor(t, "the dead channel's retry", func() bool {
		return testdb.Value[int](tdb,
			`select count(*) from river.river_job where kind = 'notify_by_webhook' and state = 'retryable'`) == 1
	})
}

// TestWebhookRedirect checks that a redirect is a failure and is not followed.
func TestWebhookRedirect(t *testing.T) {
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
		err := b.postNotice(t.Context(), edge.Notice{Title: "x"}, "1", time.Now())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || followed.Load() {
			t.Errorf("%d counts as delivered: %v", status, err)
		}
		hook.Close()
	}
}

// TestFactIsOneLine checks that the value of a fact cannot add a line to a notice.
func TestFactIsOneLine(t *testing.T) {
	n := edge.Notice{Facts: []edge.Fact{{Name: "Product a\r\nRegion b\u2028c\u2029d\u0085e\vf\tg", Value: "1\n2"}}}
	text, err := (&Outbox{}).noticeText(t.Context(), n)
	if want := "Product a  Region b c d e f g: 1 2\n"; err != nil || text != want {
		t.Errorf("%q %v, want %q", text, err, want)
	}
}

// TestRollbackSendsNothing checks that jobs are rolled back with their transaction, and that only
// service_role adds jobs.
func TestRollbackSendsNothing(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	err := sendAs(t, b, "service_role", func(batch *pgx.Batch) error {
		err := b.Add(batch, notice)
		batch.Queue(`select 1/0`)
		return err
	})
	if !pool.IsCode(err, "22012") {
		t.Fatal(err)
	}
	if n := testdb.Value[int](tdb, `select count(*) from river.river_job`); n != 0 {
		t.Errorf("%d jobs", n)
	}
	for _, role := range []string{"anon", "authenticated"} {
		err := sendAs(t, b, role, b.addNotice)
		if !pool.IsCode(err, "42501") {
			t.Errorf("%s may add jobs: %v", role, err)
		}
	}
}

// TestNoticeLink checks the line of a notice that leads to its row: an address in Studio, the line
// of RowLink, or no line.
func TestNoticeLink(t *testing.T) {
	tdb := testdb.New(t)
	tdb.Exec(`create table public.todos (code text)`)
	byCommand := func(row edge.Row) string { return "Read it with: app " + row.Table + " show " + row.Value }
	studio := fmt.Sprintf("Read it: https://studio.example.org/project/default/editor/%d?schema=public&filter=code%%3Aeq%%3AT-17",
		testdb.Value[uint32](tdb, `select 'public.todos'::regclass::oid`))
	unlinked := notice
	unlinked.Link = nil
	for name, c := range map[string]struct {
		options Options
		notice  edge.Notice
		want    string
	}{
		"Studio": {Options{StudioURL: "https://studio.example.org/"}, notice, "\n" + studio + "\n"},
		"Studio and RowLink": {Options{StudioURL: "https://studio.example.org", RowLink: byCommand}, notice, "\n" +
			studio + "\n"},
		"RowLink":            {Options{RowLink: byCommand}, notice, "\nRead it with: app todos show T-17\n"},
		"empty RowLink":      {Options{RowLink: func(edge.Row) string { return "" }}, notice, ""},
		"neither":            {Options{}, notice, ""},
		"notice without row": {Options{StudioURL: "https://studio.example.org", RowLink: byCommand}, unlinked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newOutbox(t, tdb, c.options, nil, false)
			text, err := b.noticeText(t.Context(), c.notice)
			if want := "Priority: high\n" + c.want; err != nil || text != want {
				t.Errorf("%q %v, want %q", text, err, want)
			}
		})
	}
	tdb.Exec(`drop table public.todos`)
	b := newOutbox(t, tdb, Options{StudioURL: "https://studio.example.org"}, nil, false)
	if _, err := b.noticeText(t.Context(), notice); err == nil {
		t.Error("the notice links to a missing table")
	}
}

// TestSnoozeIsNoFailure checks that a snoozed job runs again and that a snooze does not count as an
// attempt.
func TestSnoozeIsNoFailure(t *testing.T) {
	var ran atomic.Int64
	f := &fake{job: func(string, string, []byte) error {
		if ran.Add(1) < 4 {
			return fmt.Errorf("busy: %w", edge.Snooze(time.Millisecond))
		}
		return nil
	}}
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, f, true)
	send(t, b, func(batch *pgx.Batch) error { return b.Add(batch, edge.JobCall{Function: "x", Job: "works"}) })
	tdb.Exec(`update river.river_job set max_attempts = 2`) // three counted attempts would discard it
	waitFor(t, "the end of the job", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 1
	})
	const q = `select attempt || ' attempts, ' || coalesce(array_length(errors, 1), 0) || ' errors' from river.river_job`
	if got := testdb.Value[string](tdb, q); got != "1 attempts, 0 errors" || ran.Load() != 4 {
		t.Errorf("%s after %d runs, want 1 attempt after 4", got, ran.Load())
	}
}

// TestMailServerDownForAWeek runs the worker with its real pauses on a fake clock.
func TestMailServerDownForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out outgoing
		out.down.Store(true)
		b := &Outbox{Options: Options{Mail: out.send, Admins: []string{"admin@example.org"}}}
		back := time.Now().Add(7 * 24 * time.Hour)
		job := &river.Job[queue.MailNotice]{JobRow: &rivertype.JobRow{ID: 1, MaxAttempts: queue.MaxAttempts},
			Args: queue.MailNotice{Notice: notice}}
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
			t.Errorf("the mail came %v after the server recovered", late)
		}
		if n := len(out.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
		}
		if n := out.took.Load(); n > queue.MaxAttempts {
			t.Errorf("%d attempts", n)
		}
	})
}

// TestFailedJobIsRetried checks the rows of a failing job: it is rescheduled, and completed once
// after the failure ends.
func TestFailedJobIsRetried(t *testing.T) {
	var out outgoing
	out.down.Store(true)
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, true)
	send(t, b, b.addNotice)
	for attempt := range 3 {
		waitFor(t, "a failed attempt", func() bool {
			return testdb.Value[int](tdb,
				`select count(*) from river.river_job where state = 'retryable' and attempt = $1`, attempt+1) == 1
		})
		if left := testdb.Value[float64](tdb,
			`select extract(epoch from scheduled_at - now())::float8 from river.river_job`); left < 10 {
			t.Errorf("after attempt %d the next one is in %.0f s", attempt+1, left)
		}
		out.down.Store(attempt < 2)
		tdb.Exec(`update river.river_job set state = 'available', scheduled_at = now()`)
		if _, err := b.DB.Pgx().Exec(t.Context(),
			`select pg_notify('river.river_insert', '{"queue":"mail"}')`); err != nil {
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

// fake implements Functions.
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

// TestFailingJobIsDiscarded checks that jobs without attempts left are discarded and counted, and
// do not stop other jobs.
func TestFailingJobIsDiscarded(t *testing.T) {
	var done atomic.Int64
	f := &fake{job: func(_, job string, args []byte) error {
		if job == "fails" {
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
			if err := b.Add(batch, edge.JobCall{Function: "x", Job: "fails"}); err != nil {
				return err
			}
		}
		return b.Add(batch, edge.JobCall{Function: "x", Job: "works", Args: map[string]int{"n": 1}})
	})
	tdb.Exec(`update river.river_job set max_attempts = 1 where args ->> 'job' = 'fails'`)
	if err := b.Start(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	waitFor(t, "the other job", func() bool { return done.Load() == 1 })
	waitFor(t, "the discarded jobs", func() bool {
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

// TestSentMailIsErased checks that the database does not keep the text of a sent mail, nor of a
// mail without a recipient, which is queued like others and not sent.
func TestSentMailIsErased(t *testing.T) {
	for name, to := range map[string][]string{"to a user": {"user@example.org"}, "without a recipient": nil} {
		t.Run(name, func(t *testing.T) {
			var out outgoing
			tdb := testdb.New(t)
			b := newOutbox(t, tdb, Options{Mail: out.send}, nil, true)
			secret := mail.Message{To: to, Subject: "Sign in", Text: "the secret link"}
			err := b.DB.Tx(t.Context(), pool.Caller{Role: "supabase_auth_admin"}, pgx.TxOptions{}, func(tx pgx.Tx) error {
				return b.SendMail(t.Context(), tx, secret)
			})
			if err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the mail", func() bool {
				return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 1
			})
			sent := out.mails()
			if len(sent) != len(to) || len(sent) == 1 && (sent[0].Text != "the secret link" || sent[0].ID == "") {
				t.Errorf("%+v", sent)
			}
			if row := testdb.Value[string](tdb, `select to_jsonb(j)::text from river.river_job j`); strings.Contains(row,
				"secret") {
				t.Errorf("the row still contains the link: %s", row)
			}
		})
	}
}

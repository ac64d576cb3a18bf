package jobs

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/jobs/queue"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// TestCrashRepeatsMailOnce checks crashes after the mail server accepted a mail and before the job
// was recorded as done. Each causes one more mail with the same Message-ID. A crash after the
// record causes none.
func TestCrashRepeatsMailOnce(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, true)
	send(t, b, b.addNotice)
	done := func() {
		t.Helper()
		waitFor(t, "the job's end", func() bool {
			return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'completed'`) == 1
		})
	}
	done()
	for crash := range 2 {
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		tdb.Exec(`update river.river_job set state = 'running', finalized_at = null, attempted_at = now() - interval '3 minutes'`)
		b = newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, true)
		waitFor(t, "the rescue", func() bool {
			return testdb.Value[int](tdb, `select count(*) from river.river_job where state = 'retryable'`) == 1
		})
		tdb.Exec(`update river.river_job set state = 'available', scheduled_at = now()`)
		if _, err := b.DB.Pgx().Exec(t.Context(),
			`select pg_notify('river.river_insert', '{"queue":"mail"}')`); err != nil {
			t.Fatal(err)
		}
		done()
		if n := len(out.mails()); n != crash+2 {
			t.Fatalf("after %d crashes %d mails, want %d", crash+1, n, crash+2)
		}
	}
	if err := b.Close(t.Context()); err != nil { // a crash after the job was recorded as done
		t.Fatal(err)
	}
	newOutbox(t, tdb, Options{Mail: out.send, Admins: []string{"admin@example.org"}}, nil, true)
	time.Sleep(300 * time.Millisecond)
	mails := out.mails()
	if len(mails) != 3 {
		t.Errorf("%d mails, want 3", len(mails))
	}
	for _, m := range mails {
		if m.ID == "" || m.ID != mails[0].ID {
			t.Errorf("Message-ID %q, the first mail's %q", m.ID, mails[0].ID)
		}
	}
}

// TestCrashAfterErasingMail checks a crash after the text of a mail was erased and before its job
// was recorded as done: the job ends without a second mail.
func TestCrashAfterErasingMail(t *testing.T) {
	var out outgoing
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{Mail: out.send}, nil, true)
	send(t, b, func(batch *pgx.Batch) error {
		return b.adder.AddJob(batch, sendMail{mail.Message{To: []string{"user@example.org"}}}, "")
	})
	done := func() bool {
		return testdb.Value[int](tdb,
			`select count(*) from river.river_job where state = 'completed' and args = '{}'`) == 1
	}
	waitFor(t, "the mail", done)
	tdb.Exec(`update river.river_job set state = 'available', finalized_at = null, scheduled_at = now()`)
	if _, err := b.DB.Pgx().Exec(t.Context(),
		`select pg_notify('river.river_insert', '{"queue":"mail"}')`); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the job's end", done)
	if n := out.took.Load(); n != 1 {
		t.Errorf("%d attempts at the mail server, want 1", n)
	}
}

// TestStopDuringStartLogsNothing checks that interrupted work of a start is not logged as an error.
func TestStopDuringStartLogsNothing(t *testing.T) {
	tdb := testdb.New(t)
	f := &fake{crons: map[string]string{"every": "* * * * *", "weekly": "0 6 * * 1"}}
	var log safeBuffer
	b := newOutbox(t, tdb, Options{}, nil, false)
	b.Log = slog.New(slog.NewTextHandler(&log, nil))
	tdb.Exec(`update river.river_migration set created_at = now() - interval '8 days'`) // so that a due time was missed
	for i := range 20 {
		again, err := New(b.Options)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Start(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond)
		if err := again.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if log.String() != "" {
		t.Errorf("logged:\n%s", log.String())
	}
	// Other errors are still logged.
	b.closing.Store(true)
	b.logger(b.closing.Load).Error("x", "error", "the disk is full")
	if log.String() == "" {
		t.Error("a real error during the stop is not logged")
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestInsertMatchesRiver checks that the SQL of package queue stores the same row as River's
// client, except the times and the id.
func TestInsertMatchesRiver(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	kinds := []queue.Job{
		queue.MailNotice{Notice: notice}, queue.WebhookNotice{Notice: notice},
		sendMail{mail.Message{To: []string{"user@example.org"}, Subject: "Sign in"}},
		queue.FunctionJob{Function: "f", Job: "j", Args: []byte(`{"n":1}`)},
	}
	for _, k := range kinds {
		if _, err := b.riverClient(t).Insert(t.Context(), k,
			&river.InsertOpts{Queue: k.Queue(), MaxAttempts: queue.MaxAttempts}); err != nil {
			t.Fatal(err)
		}
	}
	send(t, b, func(batch *pgx.Batch) error {
		for _, k := range kinds {
			if err := b.adder.AddJob(batch, k, ""); err != nil {
				return err
			}
		}
		return nil
	})
	const q = `
select count(distinct row), count(*)
  from (select (to_jsonb(j) - array['id', 'created_at', 'scheduled_at'])::text as row from river.river_job as j)`
	var rows, all int
	if err := b.DB.Pgx().QueryRow(t.Context(), q).Scan(&rows, &all); err != nil {
		t.Fatal(err)
	}
	if rows != len(kinds) || all != 2*len(kinds) {
		t.Errorf("%d different rows of %d, want %d of %d", rows, all, len(kinds), 2*len(kinds))
	}
}

func (b *Outbox) riverClient(t *testing.T) *river.Client[pgx.Tx] {
	t.Helper()
	client, err := river.NewClient(riverpgxv5.New(b.DB.Pgx()), &river.Config{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

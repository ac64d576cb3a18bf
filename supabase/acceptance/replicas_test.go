package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"daawo/functions"
	"daawo/supabase/edge"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/server"
)

// replicas are two servers of one public installation. They share a database, an S3 store and a
// mail server.
type replicas struct {
	t        *testing.T
	database *server.Server
	apps     [2]*app.App
	at       [2]string // addresses
	secret   string    // API keys of the installation
	key      string
	digests  atomic.Int64 // runs of a scheduled function

	config *config.Config // of the second server, with its data folder, for the rotation of keys
	data   string
}

func startReplicas(t *testing.T) *replicas {
	ctx := t.Context()
	r := &replicas{t: t}
	r.database = startServer(t, server.Options{Settings: map[string]string{"max_connections": "120"}})
	environment := r.environment()
	newReplica := func() *app.App {
		data := dataFolder(t)
		return newApp(t, data, environment, func(o *app.Options) {
			r.config, r.data = o.Config, data
			o.Functions = maps.Clone(functions.All)
			o.Functions["digest"] = edge.Func{Schedule: "0 6 * * 1", Run: func(context.Context, *edge.Env) error {
				r.digests.Add(1)
				return nil
			}}
		})
	}
	// Migrations and starts run twice at the same time, as when both machines are switched on.
	migrating := [2]*app.App{newReplica(), newReplica()}
	r.both(func(i int) {
		if err := migrating[i].Migrate(ctx); err != nil {
			t.Error(err)
		}
	})
	// so that the schedule has a missed due time
	r.sql(`update river.river_migration set created_at = now() - interval '8 days'`)
	r.apps = [2]*app.App{newReplica(), newReplica()}
	r.both(func(i int) {
		if err := r.apps[i].Start(ctx); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	for i, a := range r.apps {
		t.Cleanup(func() {
			if err := a.Close(context.WithoutCancel(ctx)); err != nil {
				t.Error(err)
			}
		})
		r.at[i] = a.Info().Get("INSIDE_URL")
	}
	r.readKeys()
	return r
}

// environment starts an S3 store and a mail server and returns the variables of both replicas.
func (r *replicas) environment() map[string]string {
	t := r.t
	store := s3mem.New()
	if err := store.CreateBucket("daawo"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(s3.Close)
	smtp, smtpPort := listenLocal(t)
	page, _ := listenLocal(t)
	inbox := mail.NewInbox(slog.New(slog.DiscardHandler))
	inbox.Serve(smtp, page)
	t.Cleanup(func() { _ = inbox.Close(context.WithoutCancel(t.Context())) })
	return map[string]string{
		"DATABASE_URL": r.database.TCPURL(server.Superuser),
		"SITE_URL":     "https://example.org", "ADMIN_EMAIL": "admin@example.org", "TRUSTED_PROXIES": "127.0.0.1",
		"REPORTS_PER_HOUR": "60",
		"SMTP_HOST":        "localhost", "SMTP_PORT": smtpPort, "SMTP_TLS": "off",
		"SMTP_ADMIN_EMAIL": "site@example.org", "STORAGE_BACKEND": "s3", "STORAGE_S3_BUCKET": "daawo",
		"STORAGE_S3_ENDPOINT": s3.URL, "STORAGE_S3_FORCE_PATH_STYLE": "true", "AWS_ACCESS_KEY_ID": "id",
		"AWS_SECRET_ACCESS_KEY": "secret",
	}
}

// both runs do for both servers at once.
func (r *replicas) both(do func(i int)) {
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func (r *replicas) readKeys() {
	r.t.Helper()
	one, two := r.apps[0].Info(), r.apps[1].Info()
	r.secret, r.key = one.Get("SERVICE_ROLE_KEY"), one.Get("ANON_KEY")
	for _, name := range []string{"SERVICE_ROLE_KEY", "ANON_KEY", "PUBLISHABLE_KEY", "SECRET_KEY", "JWT_SECRET"} {
		if one.Get(name) == "" || one.Get(name) != two.Get(name) {
			r.t.Errorf("%s differs", name)
		}
	}
}

func (r *replicas) sql(text string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.database.URL(server.Superuser))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close(r.t.Context())
	if _, err := conn.Exec(r.t.Context(), text); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends a request with the anon key to one server.
func (r *replicas) ask(i int, method, path, body string, headers ...string) (int, string) {
	r.t.Helper()
	return call(r.t, method, r.at[i]+path, body,
		append([]string{"apikey", r.key, "Content-Type", "application/json"}, headers...)...)
}

// TestReplicas checks that two servers on one database act as one installation.
func TestReplicas(t *testing.T) {
	r := startReplicas(t)
	t.Run("seed", r.seedOnce)
	t.Run("schema change", r.schemaSeen)
	t.Run("report to both", r.reportOnce)
	t.Run("report without standby", r.reportWaits)
	t.Run("upload to both", r.uploadAlternates)
	t.Run("sign-out", r.sessionEnds)
	t.Run("limits", r.limitsShared)
	t.Run("key rotation", r.keysRotate)
	t.Run("schedule", func(t *testing.T) {
		waitFor(t, "the scheduled run", func() bool { return r.digests.Load() > 0 })
		if n := r.digests.Load(); n != 1 {
			t.Errorf("it ran %d times", n)
		}
	})
}

func (r *replicas) seedOnce(t *testing.T) {
	for i := range 2 {
		_, body := r.ask(i, "GET", "/rest/v1/resources?select=file_url&file_url=neq.%23", "")
		var resources []struct {
			FileURL string `json:"file_url"`
		}
		if err := json.Unmarshal([]byte(body), &resources); err != nil || len(resources) == 0 {
			t.Fatalf("%v %s", err, body)
		}
		for _, resource := range resources {
			if status, text := r.ask(i, "GET", resource.FileURL, ""); status != 200 ||
				!strings.HasPrefix(text, "%PDF") {
				t.Errorf("server %d, %s: %d", i+1, resource.FileURL, status)
			}
		}
	}
}

func (r *replicas) schemaSeen(t *testing.T) {
	r.sql(`create table public.fresh (id int primary key); grant select on public.fresh to anon`)
	for i := range 2 {
		waitFor(t, "the new table", func() bool {
			status, _ := r.ask(i, "GET", "/rest/v1/fresh", "")
			return status == 200
		})
	}
	r.sql(`drop table public.fresh`)
}

func (r *replicas) reportOnce(t *testing.T) {
	var replies [2]string
	r.both(func(i int) {
		_, replies[i] = r.ask(i, "POST", "/functions/v1/submit-report",
			`{"product_name":"Cream","issue_description":"It burns"}`, "Idempotency-Key", "one key", "X-Forwarded-For",
			"192.0.2.1")
	})
	if replies[0] != replies[1] || !strings.Contains(replies[0], "DW-") {
		t.Errorf("%s and %s", replies[0], replies[1])
	}
}

// reportWaits checks that no report is confirmed while a synchronous standby does not reply, not
// even a repeated one whose rows the first attempt has stored. Both are confirmed, as one report,
// when the standby is back.
func (r *replicas) reportWaits(t *testing.T) {
	r.sql(`alter system set synchronous_standby_names = 'away'`)
	r.sql(`select pg_reload_conf()`)
	for !r.commitWaits(t) { // the processes of Postgres read a new setting at different times
	}
	try := func(i int, patience time.Duration) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		q, err := http.NewRequestWithContext(ctx, "POST", r.at[i]+"/functions/v1/submit-report",
			strings.NewReader(`{"product_name":"Waits","issue_description":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Idempotency-Key", "waits")
		q.Header.Set("X-Forwarded-For", "192.0.2.3")
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	for n := range 4 {
		if status, body := try(n%2, 500*time.Millisecond); status == 200 {
			t.Errorf("attempt %d is confirmed without a standby: %s", n+1, body)
		}
	}
	r.sql(`alter system reset synchronous_standby_names`)
	r.sql(`select pg_reload_conf()`)
	var replies [2]string
	r.both(func(i int) { _, replies[i] = try(i, 10*time.Second) })
	if replies[0] != replies[1] || !strings.Contains(replies[0], "DW-") {
		t.Errorf("%s and %s", replies[0], replies[1])
	}
	if _, body := r.ask(0, "GET", "/rest/v1/reports?select=reference&product_name=eq.Waits", "", "apikey",
		r.secret); strings.Count(body, "DW-") != 1 {
		t.Errorf("stored: %s", body)
	}
}

// commitWaits reports whether a commit waits for a standby. It cancels the commit then.
func (r *replicas) commitWaits(t *testing.T) bool {
	watcher, err := pgx.Connect(t.Context(), r.database.URL(server.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close(t.Context())
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		conn, err := pgx.Connect(ctx, r.database.URL(server.Superuser))
		if err == nil {
			defer conn.Close(context.WithoutCancel(ctx))
			_, err = conn.Exec(ctx, `select pg_logical_emit_message(true, 'probe', '')`)
		}
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			giveUp()
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(5 * time.Millisecond):
		}
		waits := false
		if err := watcher.QueryRow(t.Context(),
			`select exists (select from pg_stat_activity where wait_event = 'SyncRep')`).Scan(&waits); err != nil {
			giveUp()
			t.Fatal(err)
		}
		if waits {
			giveUp()
			<-ended
			return true
		}
	}
}

// sessionEnds signs in at one server and out at the other. Both reject the session then.
func (r *replicas) sessionEnds(t *testing.T) {
	admin := []string{"Authorization", "Bearer " + r.secret, "apikey", r.secret}
	account := `{"email":"amina@example.org","password":"a long password","email_confirm":true}`
	if status, body := r.ask(0, "POST", "/auth/v1/admin/users", account, admin...); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	_, body := r.ask(1, "POST", "/auth/v1/token?grant_type=password", account)
	var session struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || session.Refresh == "" {
		t.Fatal(body)
	}
	bearer := []string{"Authorization", "Bearer " + session.Access}
	r.both(func(i int) {
		if status, body := r.ask(i, "GET", "/auth/v1/user", "", bearer...); status != 200 {
			t.Errorf("server %d before the sign-out: %d %s", i+1, status, body)
		}
	})
	if status, body := r.ask(0, "POST", "/auth/v1/logout", "", bearer...); status != 204 {
		t.Fatalf("%d %s", status, body)
	}
	r.both(func(i int) {
		if status, body := r.ask(i, "GET", "/auth/v1/user", "", bearer...); status != 403 ||
			!strings.Contains(body, "session_not_found") {
			t.Errorf("server %d returns the user: %d %s", i+1, status, body)
		}
		status, body := r.ask(i, "POST", "/auth/v1/token?grant_type=refresh_token",
			fmt.Sprintf(`{"refresh_token":%q}`, session.Refresh))
		if status != 400 || !strings.Contains(body, "refresh_token_not_found") {
			t.Errorf("server %d refreshes the session: %d %s", i+1, status, body)
		}
	})
}

// limitsShared checks that the limit of sixty reports per hour applies to both servers together.
func (r *replicas) limitsShared(t *testing.T) {
	var accepted, refused atomic.Int64
	r.both(func(i int) {
		for n := range 40 {
			status, _ := r.ask(i, "POST", "/functions/v1/submit-report",
				fmt.Sprintf(`{"product_name":"%d %d","issue_description":"x"}`, i, n), "X-Forwarded-For", "192.0.2.2")
			switch status {
			case 200:
				accepted.Add(1)
			case 429:
				refused.Add(1)
			}
		}
	})
	if accepted.Load() != 60 || refused.Load() != 20 {
		t.Errorf("%d accepted and %d rejected, want 60 and 20", accepted.Load(), refused.Load())
	}
}

// keysRotate checks that both servers use new keys after a rotation and reject the old secret key.
func (r *replicas) keysRotate(t *testing.T) {
	old := r.secret
	sign := func(i int) string {
		_, body := r.ask(i, "POST", "/storage/v1/object/sign/films/long.bin", `{"expiresIn":600}`, "Authorization",
			"Bearer "+r.secret)
		var reply struct{ SignedURL string }
		if err := json.Unmarshal([]byte(body), &reply); err != nil || reply.SignedURL == "" {
			t.Fatal(body)
		}
		return "/storage/v1" + reply.SignedURL
	}
	before := sign(0)
	everywhere, err := keyring.Rotate(t.Context(), r.config, r.data, keys.Set.Rotate)
	if err != nil || !everywhere {
		t.Fatal(everywhere, err)
	}
	for i := range 2 {
		waitFor(t, "the new keys", func() bool { return r.apps[i].Info().Get("SERVICE_ROLE_KEY") != old })
	}
	r.readKeys()
	r.both(func(i int) {
		if status, _ := r.ask(i, "GET", "/rest/v1/reports?select=id&limit=1", "", "apikey", r.secret); status != 200 {
			t.Errorf("server %d rejects the new key: %d", i+1, status)
		}
		if status, _ := r.ask(i, "GET", "/rest/v1/reports?select=id&limit=1", "", "apikey", old); status != 401 {
			t.Errorf("server %d accepts the old key: %d", i+1, status)
		}
		waitFor(t, "the rejection of the old key as a token", func() bool {
			status, _ := r.ask(i, "GET", "/rest/v1/reports?select=id&limit=1", "", "apikey", r.key, "Authorization",
				"Bearer "+old)
			return status == 401
		})
		// Links that were signed before remain valid, and each server accepts the links of the
		// other.
		for _, link := range []string{before, sign(1 - i)} {
			if status, _ := r.ask(i, "GET", link, "", "Range", "bytes=0-9"); status != 206 {
				t.Errorf("server %d rejects a signed link: %d", i+1, status)
			}
		}
	})
}

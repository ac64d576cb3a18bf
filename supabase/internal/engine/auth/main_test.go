package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/message/sms"
)

func TestMain(m *testing.M) {
	// Each step of a model test is a request with a commit, so 40 runs by default; -rapid.checks
	// sets another number.
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	testdb.Main(m)
}

// ring is a fixed Keyring.
type ring struct {
	signer    keys.Key
	verifying []keys.Key
}

func (r ring) Signer() keys.Key      { return r.signer }
func (r ring) Verifying() []keys.Key { return r.verifying }

const testSecret = "super-secret-jwt-token-with-at-least-32-characters-long"

// world is an engine with its own database and a fake clock. It is its own Mailer and SMS provider.
type world struct {
	t       testing.TB
	e       *Handler
	db      *testdb.DB
	pool    *pool.Pool // of the engine
	options Options

	mu     sync.Mutex
	at     time.Time
	mails  []mail.Message
	handed atomic.Int64 // mails, also those without a recipient
	texts  []string     // "PHONE TEXT"
	sms    SMS          // receives the messages instead, if set
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// wait advances the clock.
func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// SendMail appends the mail to w.mails, unless it has no recipient.
func (w *world) SendMail(_ context.Context, _ pgx.Tx, m mail.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handed.Add(1)
	if len(m.To) > 0 {
		w.mails = append(w.mails, m)
	}
	return nil
}

// SendSMS appends the message to w.texts.
func (w *world) SendSMS(ctx context.Context, m sms.Message) (string, error) {
	if w.sms != nil {
		return w.sms.SendSMS(ctx, m)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, m.Phone+" "+m.Text)
	return "text-1", nil
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, db: testdb.New(t), at: time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)}
	pool, err := pool.Open(t.Context(), pool.Config{URL: w.db.URL("supabase_auth_admin"), MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.pool = pool
	secret := keys.Secret("", testSecret)
	w.options = Options{
		DB: pool, Keys: ring{secret, []keys.Key{secret}}, Mailer: w, SMS: w, Now: w.now,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Config: Config{
			SiteURL: "https://example.org", ExternalURL: "https://api.example.org/auth/v1",
			RedirectURLs: []string{"https://*.example.com/**"}, MailerAutoconfirm: true, PhoneAutoconfirm: true,
			EnablePhone: true, EnableAnonymous: true, ManualLinking: true, RefreshTokenRotation: true,
			ReuseInterval: 10 * time.Second,
			PasswordCost:  bcrypt.MinCost, HashesAtOnce: 4, // fast
			Mail: MailConfig{MaxFrequency: -1}, SMS: SMSConfig{MaxFrequency: -1},
			MFA: MFAConfig{EnablePhoneEnroll: true, EnablePhoneVerify: true, PhoneMaxFrequency: -1},
		},
	}
	w.restart(change...)
	t.Cleanup(func() { checkReadable(w) })
	return w
}

// restart replaces the engine by one with changed options on the same database.
func (w *world) restart(change ...func(*Options)) {
	w.t.Helper()
	for _, c := range change {
		c(&w.options)
	}
	var err error
	if w.e, err = New(w.options); err != nil {
		w.t.Fatal(err)
	}
}

// providers restarts the engine with these providers, which client calls.
func (w *world) providers(configs map[string]idp.Config, client *http.Client) {
	w.t.Helper()
	w.restart(func(o *Options) { o.Config.Providers, o.Client = configs, client })
}

// confirming makes the engine require confirmation of addresses and phone numbers.
func confirming(o *Options) { o.Config.MailerAutoconfirm, o.Config.PhoneAutoconfirm = false, false }

type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// text returns a member of the JSON body by its path, such as "user.email", or "" if it is missing.
func (r reply) text(path string) string {
	r.t.Helper()
	v := r.at(path)
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func (r reply) at(path string) any {
	var v any = r.body
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// want fails the test if the status differs, or the error code if one is given.
func (r reply) want(status int, code ...string) reply {
	r.t.Helper()
	if r.status != status || len(code) > 0 && r.text("error_code") != code[0] {
		r.t.Fatalf("got %d %s, want %d %v", r.status, r.raw, status, code)
	}
	return r
}

// do sends a request with an access token ("" for none) and a JSON body (nil for none). headers are
// names and values in turn.
func (w *world) do(method, path, token string, body any, headers ...string) reply {
	w.t.Helper()
	var in io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, in)
	r.RemoteAddr = "192.0.2.7:1234"
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.e.ServeHTTP(rec, r)
	out := reply{t: w.t, status: rec.Code, header: rec.Header(), raw: rec.Body.String()}
	_ = json.Unmarshal(rec.Body.Bytes(), &out.body) // redirects and lists are checked by raw
	for _, secret := range []string{"encrypted_password", "$2a$", "hmac_key"} {
		if strings.Contains(out.raw, secret) {
			w.t.Fatalf("%s %s shows %s: %s", method, path, secret, out.raw)
		}
	}
	return out
}

func (w *world) post(path string, body any) reply {
	w.t.Helper()
	return w.do("POST", path, "", body)
}

type m = map[string]any

// signUp creates a confirmed account and returns the reply with its first tokens.
func (w *world) signUp(email string) reply {
	w.t.Helper()
	return w.post("/signup", m{"email": email, "password": "password-1"}).want(200)
}

func (w *world) signIn(email, password string) reply {
	w.t.Helper()
	return w.post("/token?grant_type=password", m{"email": email, "password": password})
}

func (w *world) refresh(token string) reply {
	w.t.Helper()
	return w.post("/token?grant_type=refresh_token", m{"refresh_token": token})
}

// admin returns a service_role token.
func (w *world) admin() string {
	token, err := keys.Secret("", testSecret).Sign(fmt.Appendf(nil, `{"role":"service_role","iss":"supabase","exp":%d}`,
		w.now().Add(time.Hour).Unix()))
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

var (
	linkForm = regexp.MustCompile(`href="([^"]+)"`)
	codeForm = regexp.MustCompile(`<strong>(\d+)</strong>`)
)

// mail removes the oldest mail from w.mails and returns its recipient, link and code.
func (w *world) mail() (to string, link *url.URL, code string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.mails) == 0 {
		w.t.Fatal("no mail was sent")
	}
	first := w.mails[0]
	w.mails = w.mails[1:]
	if found := linkForm.FindStringSubmatch(first.HTML); found != nil {
		u, err := url.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
		if err != nil {
			w.t.Fatal(err)
		}
		link = u
	}
	if found := codeForm.FindStringSubmatch(first.HTML); found != nil {
		code = found[1]
	}
	return first.To[0], link, code
}

// follow requests the link of a mail and returns the reply and its redirect.
func (w *world) follow(link *url.URL) (reply, *url.URL) {
	w.t.Helper()
	r := w.do("GET", strings.TrimPrefix(link.Path, "/auth/v1")+"?"+link.RawQuery, "", nil).want(303)
	to, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		w.t.Fatal(err)
	}
	return r, to
}

func (w *world) count(sql string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.pool.Pgx().QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func mustUUID(t testing.TB, text string) uuid.UUID {
	t.Helper()
	id, err := uuid.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

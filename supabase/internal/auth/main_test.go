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
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/bcrypt"

	"daawo/supabase/internal/auth/external/idp"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/testdb"
)

func TestMain(m *testing.M) {
	// Every step of a model is a request that Postgres commits: forty plays each, unless -rapid.checks asks for more.
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

// world is an engine on its own database, with a clock and a mailbox that the test holds.
type world struct {
	t       testing.TB
	e       *Handler
	db      *testdb.DB
	pool    *db.Pool // of the engine
	options Options

	mu    sync.Mutex
	at    time.Time
	mails []mail.Message
	texts []string
	sms   SMS // takes the texts instead, if set
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// SendMail keeps the mail: world is its own Mailer.
func (w *world) SendMail(_ context.Context, _ pgx.Tx, m mail.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mails = append(w.mails, m)
	return nil
}

// SendSMS keeps the text.
func (w *world) SendSMS(ctx context.Context, phone, text, channel string) (string, error) {
	if w.sms != nil {
		return w.sms.SendSMS(ctx, phone, text, channel)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, phone+" "+text)
	return "text-1", nil
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	w := &world{t: t, db: testdb.New(t), at: time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)}
	pool, err := db.Open(t.Context(), db.Config{URL: w.db.URL("supabase_auth_admin"), MaxConns: 8})
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
			SiteURL: "https://example.org", ExternalURL: "https://api.example.org/auth/v1", RedirectURLs: []string{"https://*.example.com/**"},
			MailerAutoconfirm: true, PhoneAutoconfirm: true, EnablePhone: true, EnableAnonymous: true, ManualLinking: true,
			RefreshTokenRotation: true, ReuseInterval: 10 * time.Second,
			PasswordCost: bcrypt.MinCost, HashesAtOnce: 4, // the cost is bcrypt's to test
			Mail: MailConfig{MaxFrequency: -1}, SMS: SMSConfig{MaxFrequency: -1},
			MFA: MFAConfig{EnablePhoneEnroll: true, EnablePhoneVerify: true, PhoneMaxFrequency: -1},
		},
	}
	w.restart(change...)
	return w
}

// restart starts the engine with other options on the same database.
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

// providers starts the engine with these providers, which client asks.
func (w *world) providers(configs map[string]idp.Config, client *http.Client) {
	w.t.Helper()
	w.restart(func(o *Options) { o.Config.Providers, o.Client = configs, client })
}

// confirming is an installation where addresses and numbers must be proved.
func confirming(o *Options) { o.Config.MailerAutoconfirm, o.Config.PhoneAutoconfirm = false, false }

type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   map[string]any
	raw    string
}

// text reads a member by its path, "user.email".
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

// want fails the test when the status, or the code where one is given, is another.
func (r reply) want(status int, code ...string) reply {
	r.t.Helper()
	if r.status != status || len(code) > 0 && r.text("error_code") != code[0] {
		r.t.Fatalf("got %d %s, want %d %v", r.status, r.raw, status, code)
	}
	return r
}

// do sends a request as somebody; "" sends no token. body nil sends none. headers are name, value, ….
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
	_ = json.Unmarshal(rec.Body.Bytes(), &out.body) // redirects and lists are looked at raw
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

// signUp makes a confirmed account and gives its first tokens.
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

// admin is a service_role token.
func (w *world) admin() string {
	token, err := keys.Secret("", testSecret).Sign(fmt.Appendf(nil, `{"role":"service_role","iss":"supabase","exp":%d}`, w.now().Add(time.Hour).Unix()))
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

var (
	linkForm = regexp.MustCompile(`href="([^"]+)"`)
	codeForm = regexp.MustCompile(`<strong>(\d+)</strong>`)
)

// mail takes the oldest mail that was not looked at yet: whom it went to, its link and its code.
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

// follow opens a link of a mail and gives where it leads.
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

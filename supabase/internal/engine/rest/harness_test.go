package rest_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/token"
)

func TestMain(m *testing.M) { testdb.Main(m) }

//go:embed testdata/library.sql
var library string

const secret = "a secret of the tests with enough characters"

// harness is an engine over a database with the schema of library.sql. Writes of tests are rolled
// back unless they ask for a commit.
type harness struct {
	t      testing.TB
	db     *testdb.DB
	pool   *pool.Pool
	engine *rest.Engine
}

// open returns a harness with a new database.
func open(t testing.TB, change func(*rest.Config)) *harness {
	t.Helper()
	return openOn(t, newLibrary(t), change)
}

// newLibrary returns a new database with the schema of library.sql.
func newLibrary(t testing.TB) *testdb.DB {
	t.Helper()
	database := testdb.New(t)
	database.Exec(library)
	return database
}

// openOn returns a harness with an existing database.
func openOn(t testing.TB, database *testdb.DB, change func(*rest.Config)) *harness {
	t.Helper()
	pool, err := pool.Open(t.Context(), pool.Config{URL: database.URL("authenticator"), MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	keys, err := token.ParseSet([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	c := rest.Default()
	c.Schemas, c.ExtraSearchPath, c.AnonRole, c.Keys = []string{"api", "archive"}, []string{"public"}, "anon", keys
	c.TxEnd = rest.TxEnd{Rollback: true, Override: true}
	if change != nil {
		change(&c)
	}
	engine, err := rest.New(rest.Options{Pool: pool, Config: c, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := engine.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return &harness{t, database, pool, engine}
}

// scenario is one request and its expected reply.
type scenario struct {
	name   string
	method string // GET when empty
	url    string
	as     string // the claims of a signed token, as JSON; "" is anonymous
	header string // request headers, "Name: value" lines
	body   string
	status int    // 200 when 0
	want   string // the body as JSON, or as text after "="; "" skips the check
	reply  string // reply headers as "Name: value" lines; "Name:" must be absent
	has    string // text that must be in the body
	not    string // text that must not be in the body
}

func sign(t testing.TB, claims string) string {
	t.Helper()
	var c jwt.MapClaims
	if err := json.Unmarshal([]byte(claims), &c); err != nil {
		t.Fatal(err)
	}
	s, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func headerLines(s string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(s) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

func (s scenario) request(t testing.TB) *http.Request {
	t.Helper()
	method := s.method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if s.body != "" {
		body = strings.NewReader(s.body)
	}
	r := httptest.NewRequest(method, strings.ReplaceAll(s.url, " ", "%20"), body)
	r.Header = headerLines(s.header)
	if s.as != "" {
		r.Header.Set("Authorization", "Bearer "+sign(t, s.as))
	}
	return r
}

func (b *harness) do(t testing.TB, s scenario) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	b.engine.ServeHTTP(w, s.request(t))
	return w
}

func (b *harness) run(t *testing.T, scenarios []scenario) {
	t.Helper()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			w := b.do(t, s)
			body := w.Body.String()
			status := s.status
			if status == 0 {
				status = http.StatusOK
			}
			if w.Code != status {
				t.Errorf("status %d, want %d: %s", w.Code, status, body)
			}
			switch {
			case s.want == "":
			case s.want[0] == '=':
				if d := cmp.Diff(s.want[1:], body); d != "" {
					t.Errorf("body (-want +got):\n%s", d)
				}
			default:
				if d := cmp.Diff(parsed(t, s.want), parsed(t, body)); d != "" {
					t.Errorf("body (-want +got):\n%s", d)
				}
			}
			for name, values := range headerLines(s.reply) {
				if got := strings.Join(w.Header().Values(name), ", "); got != strings.Join(values, ", ") {
					t.Errorf("%s: %q, want %q", name, got, values)
				}
			}
			if !strings.Contains(body, s.has) {
				t.Errorf("%q is missing in %s", s.has, body)
			}
			if s.not != "" && strings.Contains(body, s.not) {
				t.Errorf("unexpected %q in %s", s.not, body)
			}
		})
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("invalid JSON: %v: %q", err, text)
	}
	return v
}

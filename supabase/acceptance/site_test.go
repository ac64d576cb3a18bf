package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"daawo/functions"
	"daawo/supabase/edge"
	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testdb.Main(m,
		// http.DefaultClient keeps idle connections.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// project is the folder of the product's migrations and seed.
var project = os.DirFS("..")

// newDatabase returns a database with the schema of a new installation, without the seed.
func newDatabase(t testing.TB) *testdb.DB {
	t.Helper()
	tdb := testdb.New(t)
	if err := migrateProject(context.Background(), tdb.Conn("postgres")); err != nil {
		t.Fatal(err)
	}
	return tdb
}

// migrateProject applies to a database with the platform schema what a start of the program applies
// after it.
func migrateProject(ctx context.Context, conn *pgx.Conn) error {
	if err := host.Migrate(ctx, conn); err != nil {
		return err
	}
	_, err := migrate.Apply(ctx, conn, project)
	return err
}

// site hosts the functions of the product on a database of its own.
type site struct {
	*host.Host
	db     *testdb.DB
	outbox *jobs.Outbox
	env    map[string]string
}

func newSite(t testing.TB, changes ...func(*host.Options)) *site {
	t.Helper()
	tdb := newDatabase(t)
	return newSiteAt(t, tdb, tdb.URL("postgres"), changes...)
}

// newSiteAt returns a site that connects to its database at the given URL.
func newSiteAt(t testing.TB, tdb *testdb.DB, url string, changes ...func(*host.Options)) *site {
	t.Helper()
	pool := openPool(t, url)
	box, err := jobs.New(jobs.Options{DB: pool, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := &site{db: tdb, outbox: box, env: map[string]string{}}
	s.Host = s.newHost(t, pool, changes...)
	return s
}

// replica returns a second host on the same database, as on another machine.
func (s *site) replica(t *testing.T) *site {
	t.Helper()
	other := *s
	other.Host = s.newHost(t, openPool(t, s.db.URL("postgres")))
	return &other
}

func openPool(t testing.TB, url string) *pool.Pool {
	t.Helper()
	pool, err := pool.Open(context.Background(), pool.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func (s *site) newHost(t testing.TB, pool *pool.Pool, changes ...func(*host.Options)) *host.Host {
	t.Helper()
	o := host.Options{
		Functions: functions.All, DB: pool, Outbox: s.outbox, Log: slog.New(slog.DiscardHandler),
		Getenv: func(name string) string { return s.env[name] },
		Verify: func(string) (json.RawMessage, error) { return json.RawMessage(`{"role":"anon"}`), nil },
	}
	for _, change := range changes {
		change(&o)
	}
	host, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return host
}

// replaceFunction changes one function of a host.
func replaceFunction(name string, change func(*edge.Func)) func(*host.Options) {
	return func(o *host.Options) {
		f := o.Functions[name]
		change(&f)
		o.Functions = maps.Clone(o.Functions)
		o.Functions[name] = f
	}
}

// call posts JSON to a function.
func (s *site) call(name string, body any, header map[string]string) *httptest.ResponseRecorder {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/"+name, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer a.b.c")
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// report returns a complete report, with some fields changed.
func report(changes map[string]any) map[string]any {
	body := map[string]any{
		"name": "A visitor", "phone": "061 2345678", "product_name": "Cream " + uuid.NewString(), "batch_number": "B1",
		"expiry_date": "2027-02-28", "where_bought": "a market", "issue_description": "It burned.",
		"location": "Banaadir, Hodan", "photo_url": nil,
	}
	maps.Copy(body, changes)
	return body
}

// receipt is the reply to a report.
type receipt struct {
	ID, Reference string
	PhotoAttached *bool `json:"photo_attached"`
}

// decode returns the body of a reply with this status.
func decode[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var v T
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

// waitFor waits up to a minute until ok returns true.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not happen within a minute", what)
}

package host

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// newDatabase returns a database with schema edge_functions.
func newDatabase(t testing.TB) *testdb.DB {
	t.Helper()
	tdb := testdb.New(t)
	if err := Migrate(context.Background(), tdb.Conn("postgres")); err != nil {
		t.Fatal(err)
	}
	return tdb
}

// hostingAt returns a host of these functions on a database.
func hostingAt(t testing.TB, tdb *testdb.DB, functions map[string]edge.Func, change ...func(*Options)) *Host {
	t.Helper()
	pool, err := pool.Open(context.Background(), pool.Config{URL: tdb.URL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return hosting(t, functions, append([]func(*Options){func(o *Options) { o.DB = pool }}, change...)...)
}

// TestMigrateTwice checks that a second Migrate keeps the keys and writes nothing, so that it
// succeeds on a full disk.
func TestMigrateTwice(t *testing.T) {
	tdb := newDatabase(t)
	tdb.Exec(`insert into edge_functions.secrets (name) values ('k')`)
	const q = `select encode(value, 'hex') from edge_functions.secrets`
	before := testdb.Value[string](tdb, q)
	conn := tdb.Conn("postgres")
	if _, err := conn.Exec(t.Context(), `set default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), conn); err != nil {
		t.Errorf("on a full disk: %v", err)
	}
	if after := testdb.Value[string](tdb, q); after != before {
		t.Errorf("the key changed from %s to %s", before, after)
	}
}

// TestMigrateConcurrently checks that two replicas which start at the same time both succeed.
func TestMigrateConcurrently(t *testing.T) {
	for range 5 {
		tdb := testdb.New(t)
		conns := []*pgx.Conn{tdb.Conn("postgres"), tdb.Conn("postgres")}
		var replicas sync.WaitGroup
		for _, conn := range conns {
			replicas.Go(func() {
				if err := Migrate(t.Context(), conn); err != nil {
					t.Error(err)
				}
			})
		}
		replicas.Wait()
		if n := testdb.Value[int](tdb, `select count(*) from pg_tables where schemaname = 'edge_functions'`); n != 3 {
			t.Errorf("%d tables, want 3", n)
		}
		if n := testdb.Value[int](tdb,
			`select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`); n != 0 {
			t.Errorf("%d advisory locks are left", n)
		}
	}
}

// TestMigrateAfterInterruption checks that Migrate completes a schema that lacks its last
// statements.
func TestMigrateAfterInterruption(t *testing.T) {
	tdb := newDatabase(t)
	tdb.Exec(`drop function edge_functions.count_request; drop table edge_functions.secrets`)
	if err := Migrate(t.Context(), tdb.Conn("postgres")); err != nil {
		t.Fatal(err)
	}
	tdb.Exec(`insert into edge_functions.secrets (name) values ('k'); select edge_functions.count_request('c', 'n', 1, interval '1 hour')`)
}

// TestSchemaIsPrivate checks that only service_role reaches schema edge_functions.
func TestSchemaIsPrivate(t *testing.T) {
	tdb := newDatabase(t)
	db, err := pool.Open(t.Context(), pool.Config{URL: tdb.URL("authenticator")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, sql := range []string{
		`select * from edge_functions.secrets`, `select * from edge_functions.daily_salts`,
		`select * from edge_functions.request_limits`,
		`select edge_functions.count_request('c', 'n', 1, interval '1 hour')`,
	} {
		for role, allowed := range map[string]bool{"anon": false, "authenticated": false, "service_role": true} {
			err := db.Tx(t.Context(), pool.Caller{Role: role}, pgx.TxOptions{}, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			if allowed && err != nil || !allowed && !pool.IsCode(err, "42501") {
				t.Errorf("%s: %s: %v", role, sql, err)
			}
		}
	}
}

// TestSweep checks which counters and salts Sweep deletes.
func TestSweep(t *testing.T) {
	tdb := newDatabase(t)
	h := hostingAt(t, tdb, nil)
	tdb.Exec(`
		insert into edge_functions.request_limits (client, name, started_at) values ('a', 'b', now() - interval '2 days'), ('c', 'b', now());
		insert into edge_functions.daily_salts (day) values ((now() at time zone 'UTC')::date - 1), ((now() at time zone 'UTC')::date);
		insert into edge_functions.secrets (name) values ('k')`)
	if err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{
		`select string_agg(client, ',') from edge_functions.request_limits`: "c",
		`select count(*)::text from edge_functions.daily_salts`:             "1",
		`select count(*)::text from edge_functions.secrets`:                 "1",
	} {
		if got := testdb.Value[string](tdb, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

// TestLimitAcrossReplicas checks that two hosts share limits and keys, that limits count IPv4
// addresses and IPv6 networks, that they spare this machine, and that no address is stored.
func TestLimitAcrossReplicas(t *testing.T) {
	limited := map[string]edge.Func{"limited": {NoVerifyJWT: true,
		Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
			if err := env.Limit(r.Context(), "calls", 1, time.Hour); err != nil {
				return err
			}
			key, err := env.Key(r.Context(), "shared")
			if err != nil {
				return err
			}
			return edge.WriteJSON(w, http.StatusOK, key)
		}}}
	tdb := newDatabase(t)
	hosts := []*Host{hostingAt(t, tdb, limited), hostingAt(t, tdb, limited)}
	var keys []string
	for i, c := range []struct {
		address string
		status  int
	}{
		{"192.0.2.7:1", 200}, {"192.0.2.8:1", 200}, {"192.0.2.7:2", 429}, {"[::ffff:192.0.2.7]:1", 429},
		{"[2001:db8:1:2::1]:1", 200}, {"[2001:db8:1:2:ffff::9]:1", 429}, {"[2001:db8:1:3::1]:1", 200},
		{"", 200}, {"", 200}, // no address: this machine
	} {
		r := httptest.NewRequest(http.MethodPost, "/limited", nil)
		r.RemoteAddr = c.address
		w := httptest.NewRecorder()
		hosts[i%2].ServeHTTP(w, r)
		if w.Code != c.status || w.Code == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s, want %d", c.address, w.Code, w.Header(), w.Body, c.status)
		}
		if w.Code == 200 {
			keys = append(keys, w.Body.String())
		}
	}
	if len(slices.Compact(keys)) != 1 {
		t.Errorf("the hosts have different keys: %v", keys)
	}
	if all := testdb.Value[string](tdb,
		`select string_agg(to_jsonb(l)::text, '') from edge_functions.request_limits l`); strings.Contains(all,
		"192.0.2") {
		t.Errorf("an address is stored: %s", all)
	}
}

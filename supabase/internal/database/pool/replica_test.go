package pool_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/database/testdb"
)

// TestReplica uses a real standby. Reads go to the standby while it follows, to the primary while
// it lags, and to the standby when the primary is down.
func TestReplica(t *testing.T) {
	database := testdb.New(t)
	database.Exec(`create table public.t (n int); insert into t values (1)`)
	standby := standbyOf(t, testdb.Server(t))
	primary := openPool(t, database.URL("postgres"))
	standbyPool := openPool(t, standby.DatabaseURL("postgres", database.Name))
	r := pool.NewReplica(primary, standbyPool, 800*time.Millisecond, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Watch(ctx) }()
	t.Cleanup(func() { stop(); <-ended })

	// readFrom returns which server answers, and the number in its table.
	readFrom := func() string {
		var from, n string
		err := r.Session(t.Context(), "", func(s *pool.Session) error {
			return s.Run(t.Context(),
				[]pool.Statement{{SQL: `select case when pg_is_in_recovery() then 'standby' else 'primary' end, n from t`}}, func(_ int, rows *pgconn.ResultReader) error {
					for rows.NextRow() {
						from, n = string(rows.Values()[0]), string(rows.Values()[1])
					}
					return nil
				})
		})
		if err != nil {
			return err.Error()
		}
		return from + " " + n
	}
	wait := func(what, want string) {
		t.Helper()
		var got string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if got = readFrom(); got == want {
				return
			}
		}
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	wait("standby follows", "standby 1")
	checkConnectPrimary(t, standby.DatabaseURL("postgres", database.Name), database.URL("postgres"))

	replay := func(sql string) {
		t.Helper()
		c, err := pgconn.Connect(t.Context(), standby.DatabaseURL(server.Superuser, database.Name))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.WithoutCancel(t.Context()))
		if _, err := c.Exec(t.Context(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	replay(`select pg_wal_replay_pause()`)
	database.Exec(`update t set n = 2`)
	wait("standby lags", "primary 2")
	replay(`select pg_wal_replay_resume()`)
	wait("standby has caught up", "standby 2")

	primary.Close() // as if the primary were down
	time.Sleep(time.Second)
	wait("primary is down", "standby 2")
}

// checkConnectPrimary checks that a pool whose first host is a standby opens a connection to the
// second host for LISTEN.
func checkConnectPrimary(t *testing.T, standby, primary string) {
	t.Helper()
	var hosts, ports []string
	var c *pgconn.Config
	for _, url := range []string{standby, primary} {
		var err error
		if c, err = pgconn.ParseConfig(url); err != nil {
			t.Fatal(err)
		}
		hosts, ports = append(hosts, c.Host), append(ports, fmt.Sprint(c.Port))
	}
	several := openPool(t, fmt.Sprintf("host=%s port=%s user=%s password='%s' dbname=%s sslmode=disable",
		strings.Join(hosts, ","), strings.Join(ports, ","), c.User, c.Password, c.Database))
	conn, err := several.ConnectPrimary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), `listen pgrst`); err != nil {
		t.Error(err)
	}
}

// TestReplicaWithoutStandby reads from the primary when the standby is down.
func TestReplicaWithoutStandby(t *testing.T) {
	database := testdb.New(t)
	other := openPool(t, database.URL("postgres"))
	r := probed(t, openPool(t, database.URL("postgres")), other)
	other.Close()
	n := 0
	err := r.Session(t.Context(), "", func(s *pool.Session) error {
		n++
		return s.Run(t.Context(), []pool.Statement{{SQL: `select 1`}},
			func(int, *pgconn.ResultReader) error { return nil })
	})
	if err != nil || n != 1 {
		t.Errorf("%v after %d attempts", err, n)
	}
}

// TestReplicaRunsSlowStatementOnce: a statement timeout is not retried on the other server.
func TestReplicaRunsSlowStatementOnce(t *testing.T) {
	database := testdb.New(t)
	r := probed(t, openPool(t, database.URL("postgres")), openPool(t, database.URL("postgres")))
	n := 0
	err := r.Session(t.Context(), "", func(s *pool.Session) error {
		n++
		return s.Run(t.Context(),
			[]pool.Statement{{SQL: `set local statement_timeout = 2100`}, {SQL: `select pg_sleep(9)`}},
			func(int, *pgconn.ResultReader) error { return nil })
	})
	if !pool.IsCode(err, "57014") || n != 1 {
		t.Errorf("%v after %d attempts", err, n)
	}
}

// probed returns a Replica that has probed its standby.
func probed(t *testing.T, primary, standby *pool.Pool) *pool.Replica {
	t.Helper()
	r := pool.NewReplica(primary, standby, time.Second, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Watch(ctx) }()
	time.Sleep(100 * time.Millisecond)
	stop()
	<-ended
	return r
}

func openPool(t *testing.T, url string) *pool.Pool {
	t.Helper()
	p, err := pool.Open(t.Context(), pool.Config{URL: url, MaxConns: 4, AcquireTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// standbyOf copies a running server with the low-level base backup API and starts the copy as its
// standby.
func standbyOf(t *testing.T, s *server.Server) *server.Server {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	dir, err := os.MkdirTemp(filepath.Dir(s.Data()), "standby-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // for Postgres' own user
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	c, err := pgconn.Connect(ctx, s.URL(server.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	run := func(sql string) [][]byte {
		t.Helper()
		results, err := c.Exec(ctx, sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Rows[0]
	}
	run(`select pg_backup_start('standby', true)`)
	if err := os.CopyFS(data, os.DirFS(s.Data())); err != nil {
		t.Fatal(err)
	}
	label := run(`select labelfile from pg_backup_stop()`)[0]
	for name, text := range map[string][]byte{"backup_label": label, "standby.signal": nil} {
		if err := os.WriteFile(filepath.Join(data, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil {
		t.Fatal(err)
	}
	if err := server.ChownTree(s.Data(), data); err != nil {
		t.Fatal(err)
	}
	config, err := pgconn.ParseConfig(s.URL(server.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	source, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	standby, err := server.Start(ctx,
		server.Options{Source: source, Data: data, Volatile: true, Log: slog.New(slog.DiscardHandler),
			Settings: map[string]string{
				"max_connections": "100", "shared_buffers": "32MB", "hot_standby": "on",
				"primary_conninfo": fmt.Sprintf("host=%s port=%d user=%s", config.Host, config.Port, server.Superuser),
			}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop(ctx) })
	return standby
}

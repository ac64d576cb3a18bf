package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/postgres"
	"daawo/supabase/internal/testdb"
)

// TestReplica reads from a real standby: as long as it follows, from the primary while it does not, and from it again
// when the primary is gone.
func TestReplica(t *testing.T) {
	database := testdb.New(t)
	database.Exec(`create table public.t (n int); insert into t values (1)`)
	standby := standbyOf(t, testdb.Server(t))
	one := pool(t, database.URL("postgres"))
	other := pool(t, standby.DatabaseURL("postgres", database.Name))
	r := db.NewReplica(one, other, 800*time.Millisecond, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); r.Watch(ctx) }()
	t.Cleanup(func() { stop(); <-watched })

	// where says who answered, and which number is in the table there.
	where := func() string {
		var from, n string
		err := r.Session(t.Context(), "", func(s *db.Session) error {
			return s.Run(t.Context(), []db.Statement{{SQL: `select case when pg_is_in_recovery() then 'standby' else 'primary' end, n from t`}},
				func(_ int, rows *pgconn.ResultReader) error {
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
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if got = where(); got == want {
				return
			}
		}
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	wait("it follows", "standby 1")

	replay := func(sql string) {
		t.Helper()
		c, err := pgconn.Connect(t.Context(), standby.DatabaseURL(postgres.Superuser, database.Name))
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
	wait("it is late", "primary 2")
	replay(`select pg_wal_replay_resume()`)
	wait("it has caught up", "standby 2")

	one.Close() // as far as this server can tell, the primary is gone
	time.Sleep(time.Second)
	wait("the primary is gone", "standby 2")
}

// TestReplicaThatIsDown: a standby that cannot be reached costs nobody an answer.
func TestReplicaThatIsDown(t *testing.T) {
	database := testdb.New(t)
	other := pool(t, database.URL("postgres"))
	r := inUse(t, pool(t, database.URL("postgres")), other)
	other.Close()
	n := 0
	err := r.Session(t.Context(), "", func(s *db.Session) error {
		n++
		return s.Run(t.Context(), []db.Statement{{SQL: `select 1`}}, func(int, *pgconn.ResultReader) error { return nil })
	})
	if err != nil || n != 1 {
		t.Errorf("%v after %d tries", err, n)
	}
}

// TestReplicaAsksOnce: what a server says after a long time, the other would say after as long.
func TestReplicaAsksOnce(t *testing.T) {
	database := testdb.New(t)
	r := inUse(t, pool(t, database.URL("postgres")), pool(t, database.URL("postgres")))
	n := 0
	err := r.Session(t.Context(), "", func(s *db.Session) error {
		n++
		return s.Run(t.Context(), []db.Statement{{SQL: `set local statement_timeout = 2100`}, {SQL: `select pg_sleep(9)`}},
			func(int, *pgconn.ResultReader) error { return nil })
	})
	if !db.IsCode(err, "57014") || n != 1 {
		t.Errorf("%v after %d tries", err, n)
	}
}

// inUse is a Replica that has seen its standby.
func inUse(t *testing.T, primary, standby *db.Pool) *db.Replica {
	t.Helper()
	r := db.NewReplica(primary, standby, time.Second, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); r.Watch(ctx) }()
	time.Sleep(100 * time.Millisecond)
	stop()
	<-watched
	return r
}

func pool(t *testing.T, url string) *db.Pool {
	t.Helper()
	p, err := db.Open(t.Context(), db.Config{URL: url, MaxConns: 4, AcquireTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// standbyOf copies a running server, as the low-level API of base backups allows, and starts the copy as its standby.
func standbyOf(t *testing.T, s *postgres.Server) *postgres.Server {
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
	c, err := pgconn.Connect(ctx, s.URL(postgres.Superuser))
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
	if err := postgres.ChownTree(s.Data(), data); err != nil {
		t.Fatal(err)
	}
	config, err := pgconn.ParseConfig(s.URL(postgres.Superuser))
	if err != nil {
		t.Fatal(err)
	}
	source, err := postgres.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	standby, err := postgres.Start(ctx, postgres.Options{Source: source, Data: data, Volatile: true, Log: slog.New(slog.DiscardHandler),
		Settings: map[string]string{
			"max_connections": "100", "shared_buffers": "32MB", "hot_standby": "on",
			"primary_conninfo": fmt.Sprintf("host=%s port=%d user=%s", config.Host, config.Port, postgres.Superuser),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop(ctx) })
	return standby
}

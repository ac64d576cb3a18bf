// Package testdb gives tests a real Postgres: one server per test binary and one database with the
// platform schema per test.
//
//	func TestMain(m *testing.M) { testdb.Main(m) }
//
//	func TestX(t *testing.T) {
//		db := testdb.New(t)
//		db.Exec(`create table notes (id int)`)
//		pool, err := db.Open…(db.URL("authenticator"))
//	}
//
// The server keeps its data in a temporary folder and does not sync it to disk.
// A cluster with the platform schema is made once per version of the schema and cached. Each test
// binary starts with a copy of it.
package testdb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/database/server"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"
)

// template is the database that New copies.
const template = "template_platform"

// shared is the server of this test binary. The first test that needs it starts
// it.
var shared struct {
	once   sync.Once
	server *server.Server
	dir    string
	err    error
}

// Main runs the tests of a package and stops their server. It fails if
// goroutines are still running. It does not return.
func Main(m *testing.M, options ...goleak.Option) {
	flag.Parse()
	code := m.Run()
	if s := shared.server; s != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if err := s.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "testdb:", err)
			code = max(code, 1)
		}
		cancel()
	}
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	if code == 0 {
		if err := goleak.Find(options...); err != nil {
			fmt.Fprintln(os.Stderr, "testdb: leaked goroutines:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Server returns the running server of this test binary.
func Server(t testing.TB) *server.Server {
	t.Helper()
	shared.once.Do(func() { shared.err = start() })
	if shared.err != nil {
		t.Fatalf("testdb: %v", shared.err)
	}
	return shared.server
}

func start() error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	source, err := server.FindPackage(".")
	if err != nil {
		return err
	}
	if shared.dir, err = os.MkdirTemp(fastDir(), "testdb-"); err != nil {
		return err
	}
	if err := os.Chmod(shared.dir, 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	o := server.Options{
		Source:   source,
		Data:     filepath.Join(shared.dir, "data"),
		Volatile: true,
		Settings: map[string]string{"max_connections": "100", "autovacuum": "off", "shared_buffers": "32MB"},
		Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if err := copyTemplate(ctx, o); err != nil {
		return err
	}
	shared.server, err = server.Start(ctx, o)
	return err
}

// DB is one test's own database.
type DB struct {
	t    testing.TB
	Name string
	url  func(role, database string) string // nil means of the shared server
}

// counter numbers the databases of this test binary.
var counter struct {
	sync.Mutex
	n int
}

// New makes a database with the platform schema and drops it when the test
// ends. All tests of a binary share the server's roles, so each role that a test
// makes needs a name of its own.
func New(t testing.TB) *DB {
	t.Helper()
	return newFrom(t, template)
}

// NewEmpty makes a database without the platform schema.
func NewEmpty(t testing.TB) *DB {
	t.Helper()
	return newFrom(t, "template0")
}

func newFrom(t testing.TB, from string) *DB {
	t.Helper()
	s := Server(t)
	counter.Lock()
	counter.n++
	db := &DB{t: t, Name: fmt.Sprintf("test_%d", counter.n)}
	counter.Unlock()
	ctx := context.Background()
	admin := db.connect(s.URL(server.Superuser))
	defer admin.Close(ctx)
	// Postgres lets only one session at a time copy a template.
	run(t, admin, `select pg_advisory_lock(1)`)
	run(t, admin, fmt.Sprintf(`create database %s template %s owner postgres strategy file_copy`, db.Name, from))
	if from != "template0" {
		run(t, admin, fmt.Sprintf(`alter database %s set search_path = "$user", public, extensions`, db.Name))
	}
	t.Cleanup(func() {
		admin := db.connect(s.URL(server.Superuser))
		defer admin.Close(ctx)
		run(t, admin, fmt.Sprintf(`drop database if exists %s with (force)`, db.Name))
	})
	return db
}

// URL returns a connection string for this database and a role:
// supabase_admin (the superuser), postgres (the owner of public), authenticator,
// supabase_auth_admin, supabase_storage_admin, or a login role of the test.
func (db *DB) URL(role string) string {
	if db.url != nil {
		return db.url(role, db.Name)
	}
	return Server(db.t).DatabaseURL(role, db.Name)
}

// TCPURL is URL over loopback TCP, for programs without support for Unix sockets.
func (db *DB) TCPURL(role string) string {
	db.t.Helper()
	s := Server(db.t)
	if err := s.SetPasswords(context.Background(), map[string]string{role: "test"}); err != nil {
		db.t.Fatalf("testdb: %v", err)
	}
	return strings.TrimSuffix(s.TCPURL(role), "/postgres") + "/" + db.Name
}

// Exec runs one or more SQL statements as postgres, the role that runs
// migrations.
func (db *DB) Exec(sql string, args ...any) {
	db.t.Helper()
	db.ExecAs("postgres", sql, args...)
}

// ExecAs is Exec with another login role, such as supabase_admin.
func (db *DB) ExecAs(role, sql string, args ...any) {
	db.t.Helper()
	conn := db.connect(db.URL(role))
	defer conn.Close(context.Background())
	run(db.t, conn, sql, args...)
}

// Conn opens a connection with a role and closes it when the test ends.
func (db *DB) Conn(role string) *pgx.Conn {
	db.t.Helper()
	conn := db.connect(db.URL(role))
	db.t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// Value runs a query as the superuser and returns its only value.
func Value[T any](db *DB, sql string, args ...any) T {
	db.t.Helper()
	conn := db.connect(db.URL(server.Superuser))
	defer conn.Close(context.Background())
	var v T
	if err := conn.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		db.t.Fatalf("testdb: %s: %v", sql, err)
	}
	return v
}

// Need skips the test if the build could not compile an extension, and says why.
func (db *DB) Need(extension string) {
	db.t.Helper()
	if !Value[bool](db, `select exists (select from pg_available_extensions where name = $1)`, extension) {
		db.t.Skip(server.WhyAbsent(".", extension))
	}
}

func (db *DB) connect(url string) *pgx.Conn {
	db.t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		db.t.Fatalf("testdb: %v", err)
	}
	return conn
}

func run(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("testdb: %v\nin %s", err, excerpt(sql, err))
	}
}

// excerpt returns the part of the SQL around the position of an error.
func excerpt(sql string, err error) string {
	const around = 200
	runes := []rune(sql)
	at := 0
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		at = int(pg.Position)
	}
	return string(runes[min(max(0, at-around), len(runes)):min(at+around, len(runes))])
}

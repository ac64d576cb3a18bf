package testdb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/migrate"
	"daawo/supabase/internal/database/server"
)

// NewWal2json makes a database with the platform schema on a Postgres of this machine that has the
// output plugin wal2json, and stops that server when the test ends. It skips the test if there is
// none: scripts/ensure-wal2json.sh unpacks Debian's. WAL2JSON_POSTGRES can name another folder.
func NewWal2json(t testing.TB) *DB {
	t.Helper()
	home := findWal2json()
	if home == "" {
		t.Skip("no Postgres with wal2json: run scripts/ensure-wal2json.sh")
	}
	dir, err := os.MkdirTemp(fastDir(), "wal2json-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	if err := startWal2json(t, home, data); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	db := &DB{t: t, Name: "platform", url: func(role, database string) string {
		return fmt.Sprintf("postgres://%s@/%s?host=%s&port=5432", role, database, data)
	}}
	admin := db.awaitServer(db.url(server.Superuser, "postgres"))
	defer admin.Close(context.Background())
	run(t, admin, `create database platform`)
	conn := db.connect(db.URL(server.Superuser))
	defer conn.Close(context.Background())
	if err := migrate.Platform(context.Background(), conn); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	run(t, conn, `alter database platform set search_path = "$user", public, extensions`)
	run(t, conn, `alter database platform set timezone = 'UTC'`)
	return db
}

// findWal2json returns the folder of a Postgres with wal2json, or "".
func findWal2json() string {
	var homes []string
	for _, root := range []string{"/", filepath.Join(server.DefaultRuntime(), "wal2json")} {
		found, _ := filepath.Glob(filepath.Join(root, "usr/lib/postgresql/*")) // the pattern is valid
		homes = append(homes, found...)
	}
	if home := os.Getenv("WAL2JSON_POSTGRES"); home != "" {
		homes = []string{home}
	}
	for _, home := range homes {
		if _, err := os.Stat(filepath.Join(home, "lib", "wal2json.so")); err == nil {
			return home
		}
	}
	return ""
}

// startWal2json creates a cluster and starts its server, whose socket is in the folder of the data.
func startWal2json(t testing.TB, home, data string) error {
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Dir(data), 0o755); err != nil { // for the user that runs Postgres
		return err
	}
	if err := server.ChownTree(data, data); err != nil {
		return err
	}
	owner, err := server.Credential(data)
	if err != nil {
		return err
	}
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(home, "bin", name), args...)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: owner}
		return cmd
	}
	out, err := program("initdb", "-D", data, "-U", server.Superuser, "-A", "trust", "-N", "-E", "UTF8",
		"--locale=C.UTF-8").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	var log bytes.Buffer
	args := []string{"-D", data, "-k", data, "-c", "listen_addresses=", "-c", "wal_level=logical", "-c", "fsync=off",
		"-c", "max_slot_wal_keep_size=1GB", "-c", "autovacuum=off"}
	const plugins = "output_plugin_libraries" // which the releases of 2026 have
	if program("postgres", "-D", data, "-C", plugins).Run() == nil {
		args = append(args, "-c", plugins+"=pgoutput,wal2json")
	}
	postgres := program("postgres", args...)
	postgres.Stdout, postgres.Stderr = &log, &log
	if err := postgres.Start(); err != nil {
		return err
	}
	t.Cleanup(func() {
		_ = postgres.Process.Signal(syscall.SIGINT) // a fast shutdown
		_ = postgres.Wait()
		if t.Failed() {
			t.Log(strings.Join(tail(log.String(), 40), "\n"))
		}
	})
	return nil
}

// tail returns the last lines of a text.
func tail(text string, n int) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[max(0, len(lines)-n):]
}

// awaitServer connects once the server accepts connections.
func (db *DB) awaitServer(url string) *pgx.Conn {
	db.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), url)
		if err == nil {
			return conn
		}
		if time.Now().After(end) {
			db.t.Fatalf("testdb: %v", err)
		}
	}
}

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if data := os.Getenv(parentEnv); data != "" {
		runParent(data)
	}
	goleak.VerifyTestMain(m)
}

// options returns the options of a new cluster in a folder that Postgres' user may enter.
func options(t *testing.T) Options {
	t.Helper()
	pkg, err := FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	base := "/dev/shm" // in memory if possible: these tests need no disk
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{Source: pkg, Data: filepath.Join(dir, "data")}
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// query runs SQL as the superuser and returns the single value as text.
func query(t *testing.T, url, sql string) string {
	t.Helper()
	v, err := tryQuery(t.Context(), url, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func tryQuery(ctx context.Context, url, sql string) (string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var v any
	err = conn.QueryRow(ctx, sql).Scan(&v)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return fmt.Sprint(v), err
}

func TestDataAndPasswordsPersist(t *testing.T) {
	o := options(t)
	s := start(t, o)
	query(t, s.URL(Superuser), `create table kept as select 42 as answer`)
	query(t, s.URL(Superuser), `create role reader login`)
	for range 2 { // the second call changes nothing
		if err := s.SetPasswords(t.Context(), map[string]string{"reader": "it's secret"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := query(t, s.TCPURL("reader"), `select current_user`); got != "reader" {
		t.Errorf("current_user over TCP: %s", got)
	}
	wrong := strings.Replace(s.TCPURL("reader"), "secret", "guess", 1)
	if _, err := tryQuery(t.Context(), wrong, `select 1`); err == nil ||
		!strings.Contains(err.Error(), "password authentication failed") {
		t.Errorf("with a wrong password: %v", err)
	}
	if ip := outwardAddress(t); ip != "" {
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip, fmt.Sprint(s.Port())), time.Second); err == nil {
			c.Close()
			t.Errorf("listens on %s, want loopback only", ip)
		}
	}
	stop(t, s)
	stop(t, s) // a second Stop does nothing
	again := start(t, o)
	if got := query(t, again.URL(Superuser), `select answer from kept`); got != "42" {
		t.Errorf("after a restart: got %s", got)
	}
	if info, err := os.Stat(o.Data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data folder: %v, %v", info.Mode(), err)
	}
}

func outwardAddress(t *testing.T) string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	return ""
}

func TestStartFromArchive(t *testing.T) {
	o := options(t)
	var archive bytes.Buffer
	if err := writeArchive(&archive, onlyNeeded{o.Source}, zstd.SpeedFastest); err != nil {
		t.Fatal(err)
	}
	t.Logf("the archive has %.1f MB", float64(archive.Len())/1e6)
	pkg, err := OpenArchive(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	o.Source, o.Runtime = pkg, filepath.Join(filepath.Dir(o.Data), "runtime")
	begin := time.Now()
	s := start(t, o)
	t.Logf("first start in %v", time.Since(begin))
	query(t, s.URL(Superuser), `create extension pg_stat_statements`)
	if n := query(t, s.URL(Superuser), `select count(*) > 0 from pg_stat_statements`); n != "true" {
		t.Error("pg_stat_statements is not loaded")
	}
	// Sorting needs the ICU library, which makeLinks linked.
	if got := query(t, s.URL(Superuser),
		`select string_agg(x, '' order by x) from unnest(array['b','A','a','B']) x`); got != "aAbB" {
		t.Errorf("sorted %q", got)
	}
}

// onlyNeeded hides the library symlinks, like a package whose postinstall
// script did not run.
type onlyNeeded struct{ fs.FS }

func (f onlyNeeded) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(f.FS, name)
	var files []fs.DirEntry
	for _, e := range all {
		if e.Type()&fs.ModeSymlink == 0 {
			files = append(files, e)
		}
	}
	return files, err
}

// startFails checks that Start returns the reason and a message with the words.
func startFails(t *testing.T, o Options, reason error, words ...string) {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err == nil {
		stop(t, s)
		t.Fatal("started")
	}
	if !errors.Is(err, reason) {
		t.Errorf("error %q is not %q", err, reason)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not contain %q", err, w)
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Run("port taken", func(t *testing.T) {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		o := options(t)
		o.Port = l.Addr().(*net.TCPAddr).Port
		startFails(t, o, ErrPortTaken, fmt.Sprintf("port %d of 127.0.0.1 is used", o.Port), "choose another")
	})
	t.Run("folder in use", func(t *testing.T) {
		o := options(t)
		start(t, o)
		startFails(t, o, ErrInUse, fmt.Sprintf("process %d", os.Getpid()), o.Data)
	})
	t.Run("another version", func(t *testing.T) {
		o := options(t)
		if err := errors.Join(os.Mkdir(o.Data, 0o700),
			os.WriteFile(filepath.Join(o.Data, "PG_VERSION"), []byte("15\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		startFails(t, o, ErrOtherVersion, "Postgres 15", "Postgres 17", "export", "daawo migrate", "daawo import")
	})
	t.Run("not a data folder", func(t *testing.T) {
		o := options(t)
		if err := errors.Join(os.Mkdir(o.Data, 0o700),
			os.WriteFile(filepath.Join(o.Data, "notes.txt"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		startFails(t, o, ErrForeignFolder, "neither empty nor a Postgres data folder")
	})
	t.Run("folder not traversable", func(t *testing.T) {
		o := options(t)
		shut := filepath.Join(filepath.Dir(o.Data), "shut")
		mode := fs.FileMode(0o700) // keeps Postgres' user out
		if os.Geteuid() != 0 {
			mode = 0
		}
		if err := os.Mkdir(shut, mode); err != nil {
			t.Fatal(err)
		}
		o.Data = filepath.Join(shut, "data")
		startFails(t, o, ErrNotTraversable, shut)
	})
	t.Run("no package", func(t *testing.T) {
		o := options(t)
		o.Source = os.DirFS(t.TempDir())
		startFails(t, o, ErrNoPackage)
		if _, err := FindPackage("/"); !errors.Is(err, ErrNoPackage) || !strings.Contains(err.Error(), "npm install") {
			t.Errorf("FindPackage: %v", err)
		}
	})
	t.Run("disk full", func(t *testing.T) {
		o := options(t)
		small := filepath.Join(filepath.Dir(o.Data), "small")
		if err := os.Mkdir(small, 0o755); err != nil {
			t.Fatal(err)
		}
		mountSmall(t, small, 16<<20) // less than a new cluster needs
		o.Data = filepath.Join(small, "data")
		startFails(t, o, ErrDiskFull, "disk that holds "+o.Data+" is full")
		if _, err := os.Stat(o.Data); err == nil {
			t.Error("an incomplete data folder is left")
		}
	})
}

func TestDurabilityIsForced(t *testing.T) {
	o := options(t)
	o.Settings = map[string]string{"fsync": "off"}
	s := start(t, o)
	query(t, s.URL(Superuser), `alter system set full_page_writes = off`)
	stop(t, s)
	s = start(t, o)
	for _, name := range durable {
		if got := query(t, s.URL(Superuser), `show `+name); got != "on" {
			t.Errorf("%s = %s", name, got)
		}
	}
	query(t, s.URL(Superuser), `alter database postgres set synchronous_commit = off`)
	stop(t, s)
	_, err := Start(t.Context(), o)
	if !errors.Is(err, ErrNotDurable) ||
		!strings.Contains(fmt.Sprint(err), "synchronous_commit = off (set for the database)") {
		t.Errorf("got error %v", err)
	}
}

func TestChildEnvironmentIsClean(t *testing.T) {
	t.Setenv("PGPORT", "1")
	t.Setenv("SOME_SECRET", "secret-value")
	s := start(t, options(t))
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.child.pid)); err == nil &&
		bytes.Contains(raw, []byte("secret-value")) {
		t.Error("Postgres inherited our environment")
	}
}

func TestStopKillsAfterTimeout(t *testing.T) {
	s := start(t, options(t))
	// A stopped postmaster cannot react to SIGINT.
	s.child.signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop: %v", err)
	}
}

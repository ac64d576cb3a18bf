package physical

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/server"

	"filippo.io/age"
	"github.com/jackc/pgx/v5"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// site is an installation with a database and files.
type site struct {
	t       *testing.T
	dir     string
	pkg     fs.FS
	server  *server.Server
	files   string
	options Options
}

func newSite(t *testing.T, store Store, recipients ...age.Recipient) *site {
	t.Helper()
	pkg, err := server.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: tempDir(t), pkg: pkg}
	s.files = filepath.Join(s.dir, "storage")
	s.serve(filepath.Join(s.dir, "postgres"))
	s.sql(`create table notes (id int primary key, text text not null)`)
	s.sql(`create unlogged table leader as select 1 as id`) // no backup has its row
	s.options = Options{
		Store: store, Recipients: recipients, URL: s.server.URL(server.Superuser), Package: pkg,
		Trees: []Tree{{Name: "storage", Path: s.files, Removed: filepath.Join(s.files, ".removed")},
			{Name: "keys", Path: filepath.Join(s.dir, "keys.json")}},
		Archive:  filepath.Join(s.dir, "archive"),
		StateDir: filepath.Join(s.dir, "backup"),
		Log:      slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	s.write("keys.json", "{}")
	return s
}

// tempDir is a folder that Postgres' user may enter, in memory where possible.
func tempDir(t *testing.T) string {
	t.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "backup-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (s *site) serve(data string) { s.t.Helper(); s.start(data, filepath.Join(s.dir, "archive")) }

// start starts the server, which puts its log into folder archive, or nowhere.
func (s *site) start(data, archive string) {
	s.t.Helper()
	pg, err := server.Start(s.t.Context(),
		server.Options{Source: s.pkg, Data: data, Archive: archive, ArchiveWithin: time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server, s.options.URL = pg, pg.URL(server.Superuser)
	s.t.Cleanup(s.stop)
}

func (s *site) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.server.Stop(ctx); err != nil {
		s.t.Error(err)
	}
}

func (s *site) sql(sql string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.server.URL(server.Superuser))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(s.t.Context(), sql); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *site) addNote(id int) {
	s.t.Helper()
	s.sql(fmt.Sprintf(`insert into notes select %d, repeat(md5('%[1]d'), 10)`, id))
}

func (s *site) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// now is the database's clock, between two commits.
func (s *site) now() time.Time {
	s.t.Helper()
	t, err := value[time.Time](s.t.Context(), s.server.URL(server.Superuser), `select clock_timestamp()`)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// shipped waits until everything committed so far is in the store.
func (s *site) shipped(service *Service) {
	s.t.Helper()
	s.sql(`insert into notes values (-1, 'end of the segment'); delete from notes where id = -1`)
	s.sql(`select pg_switch_wal()`)
	for range 200 {
		if err := service.Ship(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		ready, err := value[bool](s.t.Context(), s.server.URL(server.Superuser), `
			select not exists (select from pg_ls_archive_statusdir() where name like '%.ready')`)
		if err != nil {
			s.t.Fatal(err)
		}
		if left, _ := filepath.Glob(s.options.Archive + "/0*"); ready && len(left) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatal("the log was not archived")
}

func (s *site) ids() string {
	s.t.Helper()
	ids, err := value[string](s.t.Context(), s.server.URL(server.Superuser), `
		select coalesce(string_agg(id::text, ' ' order by id), '') from notes where text = repeat(md5(id::text), 10)`)
	if err != nil {
		s.t.Fatal(err)
	}
	return ids
}

func open(t *testing.T, o Options) *Service {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newFolder(t *testing.T) Store {
	t.Helper()
	store, err := OpenStore(tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newBucket(t *testing.T) Store {
	t.Helper()
	return bucketOn(t, s3mem.New())
}

// bucketOn returns a bucket whose objects are in backend.
func bucketOn(t *testing.T, backend gofakes3.Backend) Store {
	t.Helper()
	if err := backend.CreateBucket("safe"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	store, err := OpenStore("s3://safe/daawo?insecure=1&region=us-east-1&endpoint=" +
		strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

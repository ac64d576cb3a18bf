package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestExplain(t *testing.T) {
	o := Options{Data: "/data", Port: 5}
	exit := errors.New("exit status 1")
	tests := []struct {
		name  string
		cause error
		lines []string
		want  error
		text  string
	}{
		{"full disk, Go error", &fs.PathError{Op: "write", Path: "/data/x", Err: syscall.ENOSPC}, nil, ErrDiskFull,
			"free some space"},
		{"full disk, Postgres message", exit,
			[]string{`FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device`}, ErrDiskFull,
			"/data is full"},
		{"quota", exit, []string{"Disk quota exceeded"}, ErrDiskFull, ""},
		{"port", exit, []string{`LOG:  could not bind IPv4 address "127.0.0.1": Address already in use`}, ErrPortTaken,
			"port 5"},
		{"incompatible", exit, []string{"FATAL:  database files are incompatible with server"}, ErrOtherVersion,
			"import"},
		{"permission, Go error", &fs.PathError{Op: "open", Path: "/data/x", Err: syscall.EACCES}, nil,
			ErrNotTraversable, "/data/x"},
		{"unknown error keeps its message", exit, []string{"FATAL:  something new"}, exit, "something new"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := explain("start", o, test.cause, test.lines...)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %q", err)
			}
		})
	}
}

func TestScram(t *testing.T) {
	// RFC 7677's example: user, password pencil.
	salt := []byte("\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81")
	got, err := scramWith("pencil", salt, 4096)
	want := "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	if err != nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if !scramMatches(want, "pencil") || scramMatches(want, "pen") {
		t.Error("scramMatches is wrong")
	}
	for _, bad := range []string{"", "md5abc", "SCRAM-SHA-256$x:y$z", "SCRAM-SHA-256$0:AA==$a:b",
		"SCRAM-SHA-256$-1:AA==$a:b"} {
		if scramMatches(bad, "") {
			t.Errorf("scramMatches(%q) is true", bad)
		}
	}
}

func TestConcurrentUnpack(t *testing.T) {
	pkg, err := FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	done := make(chan error)
	for range 3 {
		go func() {
			_, err := Unpack(pkg, root)
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestSocketFolderIsPrivate(t *testing.T) {
	w, err := findOwner(Options{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/s"
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ensurePrivateDir(dir, w); err == nil {
		t.Error("accepted a folder that others may write to")
	}
	long := Options{Data: "/x", SocketDir: "/tmp/" + strings.Repeat("long", 30)}
	if _, err := makeSocketDir(long, w); err == nil || !strings.Contains(fmt.Sprint(err), "too long") {
		t.Errorf("got error %v", err)
	}
}

// TestHome runs the npm package as a Postgres of this machine: it has our extensions and its own,
// and keeps them after its folder was unpacked.
func TestHome(t *testing.T) {
	at, err := findModules(".")
	if err != nil {
		t.Fatal(err)
	}
	home, err := OpenHome(packageDir(at) + "/native")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Source, o.Volatile = home, true
	s := start(t, o)
	conn, err := pgx.Connect(t.Context(), s.URL(Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `create extension pgcrypto; create extension pgjwt; create extension citext;
		create role someone login; grant create on database postgres to someone; set role someone;
		create schema mine; create extension moddatetime schema mine`); err != nil {
		t.Error(err)
	}
	// Indexes of text made with another ICU are wrong.
	if _, err := conn.Exec(t.Context(), `reset role; update pg_database set datcollversion = '1.2' where datname = 'template1'`); err != nil {
		t.Fatal(err)
	}
	if err := s.withConn(t.Context(), func(c *pgconn.PgConn) error { return s.checkCollations(t.Context(), c) }); !errors.Is(err, ErrOtherVersion) || !strings.Contains(err.Error(), "template1") {
		t.Errorf("with collations of another ICU: %v", err)
	}
	for _, dir := range []string{t.TempDir(), "/missing"} {
		if _, err := OpenHome(dir); !errors.Is(err, ErrNoPackage) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

package server

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const identity = `select system_identifier::text from pg_control_system()`

// prepare makes a package with a cluster for the key "test" whose database has a table.
func prepare(t *testing.T) (o Options, original string) {
	t.Helper()
	o = options(t)
	o.Volatile = true
	s := start(t, o)
	query(t, s.URL(Superuser), `create table prepared as select 42 as answer`)
	original = query(t, s.URL(Superuser), identity)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := WriteCluster(new(bytes.Buffer), o.Data); err == nil || !strings.Contains(err.Error(), "has shut down") {
		t.Errorf("a running server: %v", err)
	}
	stop(t, s)
	name, err := ClusterFile(o.Source, "test")
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := WriteCluster(&archive, o.Data); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), archive.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Source, o.Prepared, o.Volatile = WithCluster(o.Source, os.DirFS(dir)), "test", false
	return o, original
}

// TestPreparedCluster checks that clusters of one archive have the schema and identities of their
// own, survive a crash, and that a cluster for another schema is made with initdb.
func TestPreparedCluster(t *testing.T) {
	o, original := prepare(t)
	t.Run("whole", func(t *testing.T) { testPreparedIsWhole(t, o) })
	base := filepath.Dir(o.Data)
	up := make(chan struct{})
	o.OnUp = func() { up <- struct{}{} }
	seen := map[string]bool{original: true}
	for _, name := range []string{"a", "b"} {
		o.Data = filepath.Join(base, name)
		s := start(t, o)
		if !s.Created() || query(t, s.URL(Superuser), `select answer::text from prepared`) != "42" {
			t.Errorf("%s: created %v, or the table is missing", name, s.Created())
		}
		id := query(t, s.URL(Superuser), identity)
		if seen[id] {
			t.Errorf("%s has the identifier of another cluster", name)
		}
		seen[id] = true
		query(t, s.URL(Superuser), `insert into prepared values (43)`)
		postmaster, err := readPidFile(o.Data)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(postmaster.pid, syscall.SIGQUIT); err != nil { // it starts again and replays the log
			t.Fatal(err)
		}
		<-up
		if n := query(t, s.URL(Superuser), `select count(*)::text from prepared`); n != "2" {
			t.Errorf("%s has %s rows after a crash", name, n)
		}
		stop(t, s)
		again := start(t, o)
		if again.Created() {
			t.Errorf("%s was created again", name)
		}
		stop(t, again)
	}
	nonces := map[string]bool{}
	for _, name := range []string{"a", "b", "data"} {
		c, err := readControl(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		nonces[string(c.data[c.checksum-nonceSize:c.checksum])] = true
	}
	if len(nonces) != 3 {
		t.Errorf("three clusters have %d nonces", len(nonces))
	}
	o.Data, o.Prepared = filepath.Join(base, "other"), "of another schema"
	s := start(t, o)
	if v := query(t, s.URL(Superuser), `select to_regclass('prepared') is null`); v != "true" {
		t.Error("the cluster for another schema has the table")
	}
}

// testPreparedIsWhole checks that an incomplete or changed archive leaves no data folder.
func testPreparedIsWhole(t *testing.T, o Options) {
	name, err := ClusterFile(o.Source, "test")
	if err != nil {
		t.Fatal(err)
	}
	f, err := o.Source.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var whole bytes.Buffer
	if _, err := whole.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(whole.Bytes())
	at := bytes.Index(changed, []byte("global/pg_control\x00"))
	if at < 0 {
		t.Fatal("the archive has no pg_control")
	}
	changed[at+512]++ // the first byte of the file
	var outside bytes.Buffer
	if err := tar.NewWriter(&outside).WriteHeader(&tar.Header{Name: "../outside", Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	for what, archive := range map[string][]byte{"half": whole.Bytes()[:whole.Len()/2], "changed": changed,
		"leads out": outside.Bytes()} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), archive, 0o600); err != nil {
			t.Fatal(err)
		}
		o.Data = filepath.Join(filepath.Dir(o.Data), "whole")
		o.Source = union{os.DirFS(dir), o.Source}
		if s, err := Start(t.Context(), o); err == nil {
			stop(t, s)
			t.Errorf("%s: no error", what)
		}
		if _, err := os.Stat(o.Data); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the data folder exists: %v", what, err)
		}
	}
}

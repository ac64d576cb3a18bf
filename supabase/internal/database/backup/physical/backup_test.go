package physical

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/database/testdb"

	"filippo.io/age"
)

func TestMain(m *testing.M) {
	os.Setenv("AWS_ACCESS_KEY_ID", "id") // for the buckets of the tests
	os.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	testdb.Main(m)
}

// A restore to a moment brings back the rows and files of that moment.
func TestPointInTimeRestore(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		store      func(*testing.T) Store
		recipients []age.Recipient
		identities []age.Identity
	}{
		{"folder", newFolder, nil, nil},
		{"encrypted bucket", newBucket, []age.Recipient{identity.Recipient()}, []age.Identity{identity}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := test.store(t)
			b := destroyedSite(t, store, test.recipients...)
			b.identities = test.identities
			for _, r := range []struct {
				to   time.Time
				want string
			}{{b.backup.End, "1"}, {b.moment, "1 2"}, {time.Time{}, "2 3"}} {
				b.restores(t, r.to, r.want)
			}
			b.restoreFails(t, b.backup.Begin.Add(-time.Hour), "the oldest backup is of")
			b.restoreFails(t, b.newest.Add(time.Hour), "the stored WAL ends before")
			if test.identities != nil {
				searchForPlainText(t, store, "avatar one", "notes")
			}
		})
	}
}

// destroyed is a site that was backed up and destroyed.
type destroyed struct {
	*site
	store          Store
	identities     []age.Identity
	backup         Manifest
	moment, newest time.Time
}

// deletedText is the content of a file that was deleted while the database was copied.
const deletedText = "deleted while the database was copied"

// destroyedSite makes a site with rows 1 at the backup's end, 1 and 2 at moment and 3 at newest,
// with a file for each of rows 1 and 2, and deletes its database. Row 2 is deleted after newest,
// but only its file's deletion is shipped.
func destroyedSite(t *testing.T, store Store, recipients ...age.Recipient) *destroyed {
	t.Helper()
	s := newSite(t, store, recipients...)
	b := &destroyed{site: s, store: store}
	s.addNote(1)
	s.write("storage/avatars/1", "avatar one")
	s.write("storage/avatars/0", deletedText)
	var once sync.Once
	s.options.Progress = func(string, int64, int64) { once.Do(func() { s.remove("storage/avatars/0") }) }
	service := open(t, s.options)
	begin := time.Now()
	var err error
	if b.backup, err = service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("backup and test restore in %v, %d bytes", time.Since(begin), b.backup.Base.Size)

	s.addNote(2)
	s.write("storage/avatars/2", "avatar two")
	s.shipped(service)
	b.moment = s.now()
	s.addNote(3)
	s.sql(`delete from notes where id = 1`)
	s.remove("storage/avatars/1")
	s.shipped(service)
	b.newest = s.now()
	s.sql(`delete from notes where id = 2`)
	s.remove("storage/avatars/2")
	if err := service.shipFiles(t.Context()); err != nil { // before the WAL of the deletion
		t.Fatal(err)
	}
	s.stop()
	if err := os.RemoveAll(filepath.Join(s.dir, "postgres")); err != nil {
		t.Fatal(err)
	}
	return b
}

// restores checks a restore to a moment: the row ids and the files of that moment.
func (b *destroyed) restores(t *testing.T, to time.Time, want string) {
	t.Helper()
	dir := tempDir(t)
	o := RestoreOptions{
		Store: b.store, Identities: b.identities, To: to, Package: b.pkg,
		Data: filepath.Join(dir, "data"),
		Trees: []Tree{{Name: "storage", Path: filepath.Join(dir, "storage")},
			{Name: "keys", Path: filepath.Join(dir, "keys.json")}},
	}
	if b.identities != nil {
		noKey := o
		noKey.Identities = nil
		if _, err := Restore(t.Context(), noKey); err == nil || !strings.Contains(err.Error(), "--identity") {
			t.Errorf("without the key: %v", err)
		}
	}
	got, err := Restore(t.Context(), o)
	if err != nil {
		t.Fatalf("restore to %v: %v", to, err)
	}
	if to.IsZero() && b.newest.Sub(got.Last) > time.Minute {
		t.Errorf("the last restored commit is %v old", b.newest.Sub(got.Last))
	}
	b.serve(o.Data)
	if ids := b.ids(); ids != want {
		t.Errorf("restored to %v: rows %q, want %q", to, ids, want)
	}
	b.stop()
	files := map[string]string{"keys.json": "{}"}
	for id, text := range map[string]string{"1": "avatar one", "2": "avatar two"} {
		if strings.Contains(want, id) {
			files["storage/avatars/"+id] = text
		}
	}
	if to.Equal(b.backup.End) {
		files["storage/avatars/0"] = deletedText
	}
	for name, want := range files {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("restored to %v: %s: %q, %v", to, name, text, err)
		}
	}
	if _, err := Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("restoring over data: %v", err)
	}
}

// restoreFails checks that a restore to a moment fails and leaves nothing.
func (b *destroyed) restoreFails(t *testing.T, to time.Time, want string) {
	t.Helper()
	data := filepath.Join(tempDir(t), "data")
	_, err := Restore(t.Context(),
		RestoreOptions{Store: b.store, Identities: b.identities, To: to, Data: data, Package: b.pkg})
	if !errors.Is(err, ErrNothingToRestore) || !strings.Contains(err.Error(), want) {
		t.Errorf("restore to %v: %v", to, err)
	}
	if left, _ := filepath.Glob(data + "*"); len(left) > 1 { // the lock stays
		t.Errorf("left behind: %v", left)
	}
}

// searchForPlainText searches every stored object for words that must be encrypted.
func searchForPlainText(t *testing.T, store Store, words ...string) {
	t.Helper()
	names, err := store.List(t.Context(), "")
	if err != nil || len(names) < 5 {
		t.Fatalf("%d objects, %v", len(names), err)
	}
	for _, name := range names {
		for _, w := range words {
			if bytes.Contains(content(t, store, name), []byte(w)) {
				t.Errorf("%s holds %q", name, w)
			}
		}
	}
}

func content(t *testing.T, store Store, name string) []byte {
	t.Helper()
	r, err := store.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A backup counts only after its test restore has succeeded.
func TestFailedTestRestoreDiscardsBackup(t *testing.T) {
	store := newFolder(t)
	s := newSite(t, corrupting{store})
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); !errors.Is(err, codec.ErrDamaged) {
		t.Errorf("got error %v", err)
	}
	if all, err := List(t.Context(), store); err != nil || len(all) != 0 {
		t.Errorf("backups %v, %v", all, err)
	}
	if names, err := store.List(t.Context(), "base/"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// The test restore does not use space that the database needs.
func TestBackupNeedsSpaceForTestRestore(t *testing.T) {
	store := newFolder(t)
	service := open(t, newSite(t, store).options)
	var free int64 = testLogSize
	left, kept := leftovers(t, service)
	service.writable = func(string) (int64, error) { return free, nil }
	if _, err := service.Backup(t.Context()); !errors.Is(err, server.ErrDiskFull) ||
		!strings.Contains(err.Error(), "only 64 MB are available") {
		t.Errorf("got error %v", err)
	}
	if names, err := store.List(t.Context(), "base/"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
	free = 1 << 30
	if _, err := service.Backup(t.Context()); err != nil {
		t.Error(err)
	}
	for _, path := range left {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was not removed: %v", path, err)
		}
	}
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("removed a file that may still be written: %v", err)
	}
}

// The error of a full store states the cause and the fix.
func TestFullStore(t *testing.T) {
	store := newFolder(t)
	service := open(t, newSite(t, full{store}).options)
	if _, err := service.Backup(t.Context()); !errors.Is(err, syscall.ENOSPC) ||
		!strings.Contains(err.Error(), "is full: free some space there") {
		t.Errorf("got error %v", err)
	}
	if names, err := store.List(t.Context(), "base/"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// full is a store without space for large objects.
type full struct{ Store }

func (f full) Put(ctx context.Context, name string, r io.Reader) error {
	if strings.Contains(name, "base.tar") {
		return &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return f.Store.Put(ctx, name, r)
}

// corrupting is a store that returns large objects with a wrong byte.
type corrupting struct{ Store }

func (r corrupting) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := r.Store.Open(ctx, name)
	if err != nil || !strings.Contains(name, "base.tar") {
		return in, err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	b[len(b)/3] ^= 1
	return io.NopCloser(bytes.NewReader(b)), err
}

func TestOpenRejectsStoreOfOtherSystem(t *testing.T) {
	store := newFolder(t)
	open(t, newSite(t, store).options)
	if _, err := Open(t.Context(), newSite(t, store).options); !errors.Is(err, ErrOtherSystem) {
		t.Errorf("got error %v", err)
	}
}

// A restored installation continues in the same store on a new timeline.
func TestBackupContinuesAfterRestore(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.addNote(1)
	s.shipped(service)
	fork := s.now()
	s.addNote(2) // on the abandoned timeline
	s.shipped(service)
	s.stop()

	restore := func(to time.Time) string {
		t.Helper()
		if err := os.RemoveAll(s.options.Archive); err != nil { // as on another machine
			t.Fatal(err)
		}
		o := RestoreOptions{Store: store, To: to, Data: filepath.Join(tempDir(t), "data"), Package: s.pkg}
		if _, err := Restore(t.Context(), o); err != nil {
			t.Fatalf("restore to %v: %v", to, err)
		}
		s.serve(o.Data)
		s.options.URL = s.server.URL(server.Superuser)
		return s.ids()
	}
	if ids := restore(fork); ids != "1" {
		t.Fatalf("before the fork: %q", ids)
	}
	service = open(t, s.options)
	s.addNote(3)
	s.shipped(service)
	onTimeline := s.now()
	s.addNote(4)
	s.shipped(service)
	s.stop()
	if ids := restore(onTimeline); ids != "1 3" {
		t.Errorf("moment on the new timeline: %q", ids)
	}
	s.stop()
	if ids := restore(time.Time{}); ids != "1 3 4" {
		t.Errorf("newest state: %q", ids)
	}
	service = open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Error(err)
	}
	s.addNote(5)
	s.shipped(service)
	s.stop()
	if ids := restore(time.Time{}); ids != "1 3 4 5" {
		t.Errorf("from a backup on the newest timeline: %q", ids)
	}
	if _, err := Verify(t.Context(), store, nil); err != nil {
		t.Error(err)
	}
}

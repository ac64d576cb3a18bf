package backup

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

	"daawo/supabase/internal/postgres"
	"daawo/supabase/internal/testdb"

	"filippo.io/age"
)

func TestMain(m *testing.M) {
	os.Setenv("AWS_ACCESS_KEY_ID", "id") // of the bucket that tests make
	os.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	testdb.Main(m)
}

// Write, back up, write, delete, destroy, restore to a moment: the rows and files
// are those of that moment.
func TestRestoresToAMoment(t *testing.T) {
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
			s := newSite(t, store, test.recipients...)
			s.report(1)
			s.write("storage/photos/1", "photo one")
			s.write("storage/photos/0", "deleted while the database was copied")
			var deleted sync.Once
			s.options.Progress = func(string, int64, int64) { deleted.Do(func() { s.remove("storage/photos/0") }) }
			service := open(t, s.options)
			begin := time.Now()
			m, err := service.Backup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("backup and proof in %v, %d bytes", time.Since(begin), m.Base.Size)

			s.report(2)
			s.write("storage/photos/2", "photo two")
			s.shipped(service)
			moment := s.now()
			s.report(3)
			s.sql(`delete from reports where id = 1`)
			s.remove("storage/photos/1") // as deleting a report does
			s.shipped(service)
			newest := s.now()
			s.sql(`delete from reports where id = 2`)
			s.remove("storage/photos/2")
			if err := service.shipFiles(t.Context()); err != nil { // before the log of the deletion
				t.Fatal(err)
			}
			s.stop()
			if err := os.RemoveAll(filepath.Join(s.dir, "postgres")); err != nil {
				t.Fatal(err)
			}

			for _, r := range []struct {
				to   time.Time
				want string
			}{{m.End, "1"}, {moment, "1 2"}, {time.Time{}, "2 3"}} {
				dir := tempDir(t)
				o := RestoreOptions{
					Store: store, Identities: test.identities, To: r.to, Package: s.pkg,
					Data:  filepath.Join(dir, "data"),
					Trees: []Tree{{"storage", filepath.Join(dir, "storage")}, {"keys", filepath.Join(dir, "keys.json")}},
				}
				if test.identities != nil {
					locked := o
					locked.Identities = nil
					if _, err := Restore(t.Context(), locked); err == nil || !strings.Contains(err.Error(), "give the age identity") {
						t.Errorf("without the key: %v", err)
					}
				}
				got, err := Restore(t.Context(), o)
				if err != nil {
					t.Fatalf("restore to %v: %v", r.to, err)
				}
				if r.to.IsZero() && newest.Sub(got.Last) > time.Minute {
					t.Errorf("the last commit restored is %v old", newest.Sub(got.Last))
				}
				s.serve(o.Data)
				if ids := s.ids(); ids != r.want {
					t.Errorf("restored to %v: reports %q, want %q", r.to, ids, r.want)
				}
				s.stop()
				files := map[string]string{"keys.json": "{}"}
				for id, photo := range map[string]string{"1": "photo one", "2": "photo two"} {
					if strings.Contains(r.want, id) {
						files["storage/photos/"+id] = photo
					}
				}
				if r.to.Equal(m.End) {
					files["storage/photos/0"] = "deleted while the database was copied"
				}
				for name, want := range files {
					if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
						t.Errorf("restored to %v: %s: %q, %v", r.to, name, text, err)
					}
				}
				if _, err := Restore(t.Context(), o); err == nil || !strings.Contains(err.Error(), "exists") {
					t.Errorf("restoring over data: %v", err)
				}
			}
			for _, r := range []struct {
				to   time.Time
				want string
			}{{m.Begin.Add(-time.Hour), "the oldest backup is of"}, {newest.Add(time.Hour), "the stored log ends before"}} {
				data := filepath.Join(tempDir(t), "data")
				_, err := Restore(t.Context(), RestoreOptions{Store: store, Identities: test.identities, To: r.to, Data: data, Package: s.pkg})
				if !errors.Is(err, ErrNothingToRestore) || !strings.Contains(err.Error(), r.want) {
					t.Errorf("restore to %v: %v", r.to, err)
				}
				if left, _ := filepath.Glob(data + "*"); len(left) > 1 { // the lock stays
					t.Errorf("left behind: %v", left)
				}
			}
			if test.identities != nil {
				searchForPlainText(t, store, "photo one", "reports")
			}
		})
	}
}

// searchForPlainText looks for what must be encrypted in every stored object.
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

// One flipped bit anywhere is found, and named.
func TestVerifyFindsAFlippedBit(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	s.write("storage/a", "some file")
	service := open(t, s.options)
	m, err := service.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := m.segments()
	if err != nil {
		t.Fatal(err)
	}
	s.report(1)
	s.shipped(service)
	v, err := Verify(t.Context(), store, nil)
	if err != nil || v.Backups != 1 || v.Segments == 0 || v.Files != 2 {
		t.Fatalf("a sound store: %+v, %v", v, err)
	}
	names, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == "SYSTEM" {
			continue // compared when backups are opened
		}
		good := content(t, store, name)
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1 << 3
		replace(t, store, name, bad)
		if _, err := Verify(t.Context(), store, nil); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("a flipped bit in %s: %v", name, err)
		}
		plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
		_, at, inLog := segmentOf(plain)
		if strings.HasPrefix(name, "base/") || inLog && len(plain) == 24 && at >= first {
			data := filepath.Join(tempDir(t), "data")
			if _, err := Restore(t.Context(), RestoreOptions{Store: store, Data: data, Package: s.pkg}); !errors.Is(err, ErrDamaged) {
				t.Errorf("restoring with a flipped bit in %s: %v", name, err)
			}
		}
		replace(t, store, name, good)
	}
	if err := store.Delete(t.Context(), firstWith(t, store, "files/")); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), store, nil); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("a missing file: %v", err)
	}
}

func replace(t *testing.T, store Store, name string, b []byte) {
	t.Helper()
	if err := store.Put(t.Context(), name, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
}

func firstWith(t *testing.T, store Store, prefix string) string {
	t.Helper()
	names, err := store.List(t.Context(), prefix)
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing below %s: %v", prefix, err)
	}
	return names[0]
}

// A backup counts only when its proof has gone well.
func TestABackupThatCannotBeRestoredIsNone(t *testing.T) {
	store := newFolder(t)
	s := newSite(t, rotten{store})
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("got error %v", err)
	}
	if all, err := List(t.Context(), store); err != nil || len(all) != 0 {
		t.Errorf("backups %v, %v", all, err)
	}
	if names, err := store.List(t.Context(), "base/"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// The proof takes no room that the database needs.
func TestABackupWithoutRoomForItsProofIsNone(t *testing.T) {
	store := newFolder(t)
	service := open(t, newSite(t, store).options)
	var free int64 = logRoom
	left, kept := leavings(t, service)
	service.spare = func(string) (int64, error) { return free, nil }
	if _, err := service.Backup(t.Context()); !errors.Is(err, postgres.ErrDiskFull) || !strings.Contains(err.Error(), "only 64 MB may be used") {
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
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("somebody may still be writing it: %v", err)
	}
}

// A store that is full says so, and what to do.
func TestFullStore(t *testing.T) {
	store := newFolder(t)
	service := open(t, newSite(t, full{store}).options)
	if _, err := service.Backup(t.Context()); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "is full: free some space there") {
		t.Errorf("got error %v", err)
	}
	if names, err := store.List(t.Context(), "base/"); err != nil || len(names) != 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// full is a store without room for big objects.
type full struct{ Store }

func (f full) Put(ctx context.Context, name string, r io.Reader) error {
	if strings.Contains(name, "base.tar") {
		return &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return f.Store.Put(ctx, name, r)
}

// rotten is a store whose big objects come back with a wrong byte.
type rotten struct{ Store }

func (r rotten) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	in, err := r.Store.Open(ctx, name)
	if err != nil || !strings.Contains(name, "base.tar") {
		return in, err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	b[len(b)/3] ^= 1
	return io.NopCloser(bytes.NewReader(b)), err
}

func TestRefusesAnotherInstallationsStore(t *testing.T) {
	store := newFolder(t)
	open(t, newSite(t, store).options)
	if _, err := Open(t.Context(), newSite(t, store).options); !errors.Is(err, ErrOtherSystem) {
		t.Errorf("got error %v", err)
	}
}

// A restored installation goes on in the same store, on a branch of its own.
func TestGoesOnAfterARestore(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	service := open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.report(1)
	s.shipped(service)
	fork := s.now()
	s.report(2) // on the branch that is left
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
		s.options.URL = s.server.URL(postgres.Superuser)
		return s.ids()
	}
	if ids := restore(fork); ids != "1" {
		t.Fatalf("before the fork: %q", ids)
	}
	service = open(t, s.options)
	s.report(3)
	s.shipped(service)
	onBranch := s.now()
	s.report(4)
	s.shipped(service)
	s.stop()
	if ids := restore(onBranch); ids != "1 3" {
		t.Errorf("a moment on the new branch: %q", ids)
	}
	s.stop()
	if ids := restore(time.Time{}); ids != "1 3 4" {
		t.Errorf("the newest state: %q", ids)
	}
	service = open(t, s.options)
	if _, err := service.Backup(t.Context()); err != nil {
		t.Error(err)
	}
	s.report(5)
	s.shipped(service)
	s.stop()
	if ids := restore(time.Time{}); ids != "1 3 4 5" {
		t.Errorf("from a backup on the newest branch: %q", ids)
	}
	if _, err := Verify(t.Context(), store, nil); err != nil {
		t.Error(err)
	}
}

package physical

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/database/backup/codec"
)

// Verify finds and names every object with a flipped bit.
func TestVerifyFindsFlippedBit(t *testing.T) {
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
	s.addNote(1)
	s.shipped(service)
	v, err := Verify(t.Context(), store, nil)
	if err != nil || v.Backups != 1 || v.Segments == 0 || v.Files != 2 {
		t.Fatalf("undamaged store: %+v, %v", v, err)
	}
	names, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		good := content(t, store, name)
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 1 << 3
		replace(t, store, name, bad)
		if _, err := Verify(t.Context(), store, nil); !errors.Is(err, codec.ErrDamaged) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("flipped bit in %s: %v", name, err)
		}
		if restoreNeeds(name, first) && !sameContent(name, good, bad) {
			data := filepath.Join(tempDir(t), "data")
			if _, err := Restore(t.Context(), RestoreOptions{Store: store, Data: data, Package: s.pkg}); !errors.Is(err,
				codec.ErrDamaged) {
				t.Errorf("restore with a flipped bit in %s: %v", name, err)
			}
		}
		replace(t, store, name, good)
	}
	for id := range 2 {
		s.addNote(2 + id)
		s.shipped(service)
	}
	verifyFindsMissing(t, store, m)
	if err := store.Delete(t.Context(), firstWith(t, store, "files/")); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), store, nil); !errors.Is(err, codec.ErrDamaged) ||
		!strings.Contains(err.Error(), "is missing") {
		t.Errorf("missing file: %v", err)
	}
}

// verifyFindsMissing removes SYSTEM and each segment after the backup m in turn, the first and the
// last too.
func verifyFindsMissing(t *testing.T, store Store, m Manifest) {
	t.Helper()
	segments := 0
	for _, name := range append(namesWith(t, store, "wal/"), "SYSTEM") {
		if inBackup(name, m) {
			continue
		}
		segments++
		good := content(t, store, name)
		if err := store.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), store, nil); !errors.Is(err, codec.ErrDamaged) {
			t.Errorf("%s is missing: %v", name, err)
		}
		replace(t, store, name, good)
	}
	if _, err := Verify(t.Context(), store, nil); err != nil || segments < 4 {
		t.Errorf("complete store: %d segments, %v", segments-1, err)
	}
}

func namesWith(t *testing.T, store Store, prefix string) []string {
	t.Helper()
	names, err := store.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// inBackup reports whether an object is a segment that a backup contains itself, or one before it.
func inBackup(name string, m Manifest) bool {
	plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
	_, at, ok := segmentOf(plain)
	_, last, err := m.segments()
	return ok && err == nil && at <= last
}

// restoreNeeds reports whether a restore of a backup reads an object. first is the backup's first
// segment.
func restoreNeeds(name string, first uint64) bool {
	plain, _ := plainName(strings.TrimPrefix(name, "wal/"))
	_, at, inLog := segmentOf(plain)
	return strings.HasPrefix(name, "base/") || inLog && len(plain) == 24 && at >= first
}

// sameContent reports whether two stored objects decode to the same bytes. In a nearly empty
// segment a bit can change which zeros are repeated.
func sameContent(name string, a, b []byte) bool {
	decoded := func(stored []byte) ([]byte, error) {
		r, err := codec.Codec{}.Decode(name, bytes.NewReader(stored))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	one, err := decoded(a)
	other, err2 := decoded(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
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
		t.Fatalf("no object with prefix %s: %v", prefix, err)
	}
	return names[0]
}

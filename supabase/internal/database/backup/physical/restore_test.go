package physical

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/backup/codec"
)

// A restore that fails at the files removes the files it has written and keeps
// all others.
func TestFailedRestoreLeavesNothing(t *testing.T) {
	t.Parallel()
	store := newFolder(t)
	s := newSite(t, store)
	s.write("storage/avatars/1", "avatar one")
	s.write("storage/avatars/2", "avatar two")
	if _, err := open(t, s.options).Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Damage the second file, which comes after the first in the list.
	objects, err := store.List(t.Context(), "files/")
	if err != nil {
		t.Fatal(err)
	}
	avatar := sha256.Sum256([]byte("avatar two"))
	two := slices.IndexFunc(objects, func(name string) bool {
		return repository{Store: store}.checkFile(t.Context(),
			file{Object: name, SHA256: hex.EncodeToString(avatar[:])}) == nil
	})
	good := content(t, store, objects[two])
	bad := slices.Clone(good)
	bad[len(bad)/2] ^= 1
	replace(t, store, objects[two], bad)

	dir := tempDir(t)
	files := filepath.Join(dir, "storage")
	o := RestoreOptions{Store: store, Data: filepath.Join(dir, "data"), Package: s.pkg,
		Trees: []Tree{{Name: "storage", Path: files}}}
	if _, err := Restore(t.Context(), o); !errors.Is(err, codec.ErrDamaged) {
		t.Errorf("got error %v", err)
	}
	left, err := filepath.Glob(dir + "/*")
	if err != nil || len(left) > 1 || len(left) == 1 && !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind: %v, %v", left, err)
	}

	replace(t, store, objects[two], good)
	mine := filepath.Join(files, "avatars/2")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o750),
		os.WriteFile(mine, []byte("mine"), 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), mine+" exists with different content") {
		t.Errorf("over a different file: %v", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("existing file: %q, %v", text, err)
	}
	if err := os.WriteFile(mine, []byte("avatar two"), 0o640); err != nil {
		t.Fatal(err)
	}
	if r, err := Restore(t.Context(), o); err != nil || r.Files != 2 {
		t.Errorf("over the same file: %+v, %v", r.Files, err)
	}
}

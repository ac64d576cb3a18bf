package physical

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A missing folder, perhaps of a disk that is not mounted, does not count as empty. Only MakeStore
// creates it.
func TestMissingFolder(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "usb", "daawo")
	store, err := OpenStore("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	fails := func() {
		t.Helper()
		_, opened := store.Open(ctx, "SYSTEM")
		_, listed := store.List(ctx, "base/")
		for _, err := range []error{store.Put(ctx, "SYSTEM", strings.NewReader("1")), opened, listed} {
			if !errors.Is(err, errNotThere) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got error %v", err)
			}
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder was created: %v", err)
		}
	}
	fails()
	if _, err := MakeStore(dir); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, "wal/1", strings.NewReader("1")); err != nil {
		t.Error(err)
	}
	if _, err := store.Open(ctx, "wal/2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	if err := os.RemoveAll(dir); err != nil { // the disk is unmounted
		t.Fatal(err)
	}
	fails()
}

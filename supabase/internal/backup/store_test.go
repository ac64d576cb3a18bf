package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder that is not there, maybe because its disk is not mounted, is neither made by what opens it and stores there nor
// taken for an empty one; but when it is asked for.
func TestAFolderThatIsNotThere(t *testing.T) {
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "usb", "daawo")
	store, err := OpenStore("file://" + dir)
	if err != nil {
		t.Fatal(err)
	}
	refused := func() {
		t.Helper()
		_, opened := store.Open(ctx, "SYSTEM")
		_, listed := store.List(ctx, "base/")
		for _, err := range []error{store.Put(ctx, "SYSTEM", strings.NewReader("1")), opened, listed} {
			if !errors.Is(err, errNotThere) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("got error %v", err)
			}
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it was made: %v", err)
		}
	}
	refused()
	if _, err := MakeStore(dir); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, "wal/1", strings.NewReader("1")); err != nil {
		t.Error(err)
	}
	if _, err := store.Open(ctx, "wal/2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	if err := os.RemoveAll(dir); err != nil { // the disk is taken away
		t.Fatal(err)
	}
	refused()
}

package physical

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// If a file grows during the backup, such as a resumed upload, the stored
// beginning matches its checksum.
func TestFileGrowsDuringBackup(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "upload")
	if err := os.WriteFile(path, make([]byte, 8<<20), 0o640); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := f.WriteString("more"); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	repo := repository{Store: newFolder(t)}
	all, err := openTrees(t.Context(), repo, tempDir(t), []Tree{{Name: "storage", Path: dir}})
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := all.copy(t.Context())
	close(stop)
	writer.Wait()
	if err != nil || len(files) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if err := repo.checkFile(t.Context(), files[0]); err != nil {
		t.Errorf("stored content: %v", err)
	}
	if again, _, err := all.copy(t.Context()); err != nil || again[0].Size <= files[0].Size {
		t.Errorf("next copy: %+v, %v", again, err)
	}
}

// A file that was written and removed between two shipments is in the store before it is deleted,
// and a restore to a moment at which it existed has it. After a failed shipment it stays.
func TestRemovedFilesAreStored(t *testing.T) {
	dir := tempDir(t)
	removed := filepath.Join(dir, ".removed")
	old := filepath.Join(removed, "photos", "1.jpg", "version")
	store := &refusing{Store: newFolder(t)}
	all, err := openTrees(t.Context(), repository{Store: store}, tempDir(t),
		[]Tree{{Name: "storage", Path: dir, Removed: removed}})
	if err != nil {
		t.Fatal(err)
	}
	ship := func(after time.Duration) error {
		all.clock = func() time.Time { return noon.Add(after) }
		return all.sync(t.Context(), noon.Add(after))
	}
	if err := ship(0); err != nil {
		t.Fatal(err)
	}
	names, err := all.repo.List(t.Context(), "lists/")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(old), 0o700), os.WriteFile(old, []byte("photo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	store.refuse = true
	if err := ship(10 * second); err == nil {
		t.Fatal("shipped to a store that refuses")
	}
	if _, err := os.Stat(old); err != nil {
		t.Fatalf("deleted before it was stored: %v", err)
	}
	store.refuse = false
	for range 2 { // the second list does not name the file
		if err := ship(20 * second); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(removed); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	files, err := all.repo.filesAt(t.Context(), names[0], noon.Add(5*second), false)
	if err != nil || len(files) != 1 || files[0].Path != "photos/1.jpg/version" {
		t.Fatalf("files of the moment: %+v, %v", files, err)
	}
	if err := all.repo.checkFile(t.Context(), files[0]); err != nil {
		t.Errorf("stored content: %v", err)
	}
}

// refusing is a store that can refuse to store.
type refusing struct {
	Store
	refuse bool
}

func (r *refusing) Put(ctx context.Context, name string, body io.Reader) error {
	if r.refuse {
		return io.ErrShortWrite
	}
	return r.Store.Put(ctx, name, body)
}

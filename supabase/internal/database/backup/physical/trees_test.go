package physical

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
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
	all, err := openTrees(t.Context(), repo, tempDir(t), []Tree{{"storage", dir}})
	if err != nil {
		t.Fatal(err)
	}
	files, err := all.copy(t.Context())
	close(stop)
	writer.Wait()
	if err != nil || len(files) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if err := repo.checkFile(t.Context(), files[0]); err != nil {
		t.Errorf("stored content: %v", err)
	}
	if again, err := all.copy(t.Context()); err != nil || again[0].Size <= files[0].Size {
		t.Errorf("next copy: %+v, %v", again, err)
	}
}

package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/database/backup/logical"
)

// TestImportedFilesAreReadable checks the modes of imported files: readable for imgproxy, which
// runs as another user in the compose form, and private otherwise.
func TestImportedFilesAreReadable(t *testing.T) {
	for imgproxy, want := range map[string][2]fs.FileMode{"http://imgproxy:5001": {0o644, 0o755}, "": {0o640, 0o750}} {
		dir := filepath.Join(t.TempDir(), "storage")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		a := New(Options{Config: &config.Config{Environment: config.Environment{ImgproxyURL: imgproxy,
			Files: config.Files{Path: dir}}}})
		err := a.backups.withFiles("", func(files storedFiles) error {
			return files.Put(t.Context(), logical.Object{Bucket: "avatars", Name: "a/b.png", Version: "v"},
				strings.NewReader("x"))
		})
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(filepath.Join(dir, tenant), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().Perm() != want[map[bool]int{false: 0, true: 1}[d.IsDir()]] {
				t.Errorf("with imgproxy %q: %s has mode %04o", imgproxy, strings.TrimPrefix(name, dir),
					info.Mode().Perm())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

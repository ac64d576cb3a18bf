package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Only the owner can read the new file, even if it replaces a public one that another process has
// open.
func TestCreatePrivate(t *testing.T) {
	dir := t.TempDir()
	public := filepath.Join(dir, "public")
	if err := os.WriteFile(public, []byte("old content"), 0o644); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(public)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, name := range []string{public, filepath.Join(dir, "new")} {
		f, err := CreatePrivate(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("new text"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err := os.Stat(name); err != nil || s.Mode().Perm() != 0o600 || s.Size() != 8 {
			t.Errorf("%s: %v %v", name, s, err)
		}
	}
	seen := make([]byte, 100)
	if n, _ := reader.Read(seen); string(seen[:n]) != "old content" {
		t.Errorf("a reader of the old file got %q", seen[:n])
	}
	if f, err := CreatePrivate(os.DevNull); err != nil {
		t.Error("cannot open a device:", err)
	} else {
		f.Close()
	}
}

// Concurrent exports to one name write different files, so neither renames the unfinished file of
// the other.
func TestConcurrentExportsToOneName(t *testing.T) {
	target := filepath.Join(t.TempDir(), "daawo.export")
	one, err := createPart(target)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	two, err := createPart(target)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if one.Name() == two.Name() {
		t.Error("both write to", one.Name())
	}
	if s, err := two.Stat(); err != nil || s.Mode().Perm() != 0o600 ||
		filepath.Dir(two.Name()) != filepath.Dir(target) {
		t.Errorf("%s: %v %v", two.Name(), s, err)
	}
}

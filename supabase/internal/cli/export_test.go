package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExportsArePrivate: what people wrote goes into a file that its owner alone can read, whatever lay there before.
func TestExportsArePrivate(t *testing.T) {
	dir := t.TempDir()
	public := filepath.Join(dir, "public")
	if err := os.WriteFile(public, []byte("what was there"), 0o644); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(public) // somebody has it open already
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, name := range []string{public, filepath.Join(dir, "new")} {
		f, err := CreatePrivate(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("a report"); err != nil {
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
	if n, _ := reader.Read(seen); string(seen[:n]) != "what was there" {
		t.Errorf("who had the old file open reads %q", seen[:n])
	}
	if f, err := CreatePrivate(os.DevNull); err != nil {
		t.Error("a device cannot be written to:", err)
	} else {
		f.Close()
	}
}

// TestExportsToOneName: two exports to one name at a time write each a file of its own, so that neither gives the name to
// what the other has written half of.
func TestExportsToOneName(t *testing.T) {
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
	if s, err := two.Stat(); err != nil || s.Mode().Perm() != 0o600 || filepath.Dir(two.Name()) != filepath.Dir(target) {
		t.Errorf("%s: %v %v", two.Name(), s, err)
	}
}

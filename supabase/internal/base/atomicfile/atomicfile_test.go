package atomicfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "keys.json")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, dir, name, []byte("new"))
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestWriteFileOverFolder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "list")
	if err := os.MkdirAll(filepath.Join(name, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(name, []byte("new"), 0o600); err == nil {
		t.Error("replaced a folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestConcurrentWrites(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "list")
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			if err := WriteFile(name, bytes.Repeat(fmt.Append(nil, i), 1<<16), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	check(t, dir, name, bytes.Repeat(text[:1], 1<<16))
}

// check fails the test unless name has the content and is alone in its folder.
func check(t *testing.T, dir, name string, want []byte) {
	t.Helper()
	if text, err := os.ReadFile(name); err != nil || !bytes.Equal(text, want) {
		t.Errorf("%d bytes, %v; want %d", len(text), err, len(want))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a", "b", "c")
	for range 2 { // the second time it exists
		if err := MkdirAll(name+"/", 0o700); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if MkdirAll(filepath.Join(dir, "file", "below"), 0o700) == nil {
		t.Error("made a folder below a file")
	}
	t.Chdir(dir)
	if err := MkdirAll(filepath.Join("relative", "path"), 0o700); err != nil {
		t.Error(err)
	}
}

package functions

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestEveryFolderIsRegistered checks that All has each folder with a Func under the name of the
// folder.
func TestEveryFolderIsRegistered(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no functions found: %v", err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\nvar Func = ")) {
			found[filepath.Dir(file)] = true
		}
	}
	for name := range found {
		if _, ok := All[name]; !ok {
			t.Errorf("functions/%s has a Func but no line in functions.All", name)
		}
	}
	for name := range All {
		if !found[name] {
			t.Errorf("functions.All has %q, but there is no folder of that name with a Func", name)
		}
	}
}

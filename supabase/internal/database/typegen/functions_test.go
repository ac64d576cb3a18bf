package typegen_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/typegen"
)

// TestFunctions compares the client of a document that has every form of a type.
func TestFunctions(t *testing.T) {
	document, err := os.ReadFile("testdata/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := typegen.Functions(&out, document); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/functions.ts"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s differs (-file +written); `go test ./supabase/internal/database/typegen -update` writes it:\n%s",
			file, diff)
	}
	if err := typegen.Functions(&out, []byte("<html>")); err == nil {
		t.Error("a page is no document")
	}
}

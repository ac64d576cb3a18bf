package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvFile checks the .env format: quotes, comments, export, and errors with line numbers.
func TestEnvFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".env")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("A=1\n export B = \"two\\nlines \\\"x\\\"\"\n#C=3\nD=a b # comment\nE=\nF='$x'\n")
	got, err := ReadEnvFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"A": "1", "B": "two\nlines \"x\"", "D": "a b", "E": "", "F": "$x"} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s=%q, want %q", name, v, want)
		}
	}
	if len(got) != 5 {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{"A", "=1", "A B=1", "SUPABASE_URL=x"} {
		write("\n" + bad + "\n")
		if _, err := ReadEnvFile(file); err == nil || !strings.Contains(err.Error(), ":2:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if v, err := ReadEnvFile(file + "none"); v != nil || err != nil {
		t.Errorf("missing file: %v %v", v, err)
	}
	find := Lookup(map[string]string{"A": "own"}, map[string]string{"A": "file", "B": "file"},
		func(n string) (string, bool) { return strings.TrimLeft(n, "D"), n != "D" })
	if s := find("A") + find("B") + find("process") + find("D"); s != "ownfileprocess" {
		t.Error(s)
	}
}

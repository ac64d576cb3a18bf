package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/parts"
)

// programArchive returns an archive with the program of the tests.
func programArchive(t *testing.T, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	h := &tar.Header{Name: "bin/program", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAddedProgram runs the verbs of a command for an added program, with a release of its own.
func TestAddedProgram(t *testing.T) {
	content := programArchive(t, "one")
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch folder, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); {
		case name == "SHA256SUMS":
			fmt.Fprintf(w, "%x  %s-%s.tar.zst\n", sha256.Sum256(content), folder, parts.Platform())
		case strings.HasSuffix(name, ".manifest.json"):
			fmt.Fprint(w, "{}")
		default:
			_, _ = w.Write(content)
		}
	}))
	defer mirror.Close()
	project := t.TempDir()
	if err := os.MkdirAll(filepath.Join(project, "supabase"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	program := addable{title: "The program", part: parts.Part{Name: "test-program", Version: "1.0", Program: "bin/program"},
		source: released}
	run := func(args ...string) (int, string) {
		var out strings.Builder
		code := Main(t.Context(), Env{
			Args: append(append([]string{"test-program"}, args...), "--workdir", project), Stdout: &out, Stderr: &out,
			Commands: []Command{{Name: "test-program", Short: "x", Verbs: program.verbs()}},
			Options: app.Options{
				Getenv: func(name string) (string, bool) { return mirror.URL, name == "DAAWO_PARTS_URL" },
			},
		})
		return code, out.String()
	}
	t.Cleanup(func() { run("remove") }) // root's cache is outside of the test's folders
	lock := filepath.Join(project, "supabase", "parts.lock")
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"status"}, 0, "The program is not added; `daawo test-program add` adds it"},
		{[]string{"remove"}, 1, "The program 1.0 is not on this machine"},
		{[]string{"add"}, 0, "The program 1.0 is in "},
		{[]string{"status"}, 0, fmt.Sprintf("sha256:%x", sha256.Sum256(content))},
		{[]string{"remove"}, 0, "The program 1.0 was removed from this machine"},
		{[]string{"add", "--version", "2.0"}, 0, "The program 2.0 is in "},
		{[]string{"add"}, 0, "The program 2.0 is in "}, // parts.lock names it
		{[]string{"remove"}, 0, "The program 2.0 was removed from this machine"},
		{[]string{"status"}, 0, "not on this machine; `daawo test-program add` gets it"},
		{[]string{"add", "--from", "/nonexistent"}, 1, "no such file"},
	} {
		if code, text := run(step.args...); code != step.code || !strings.Contains(text, step.want) {
			t.Errorf("%v: %d %q, want %d %q", step.args, code, text, step.code, step.want)
		}
	}
	text, err := os.ReadFile(lock)
	if want := fmt.Sprintf("\ntest-program 2.0 %s sha256:%x\n", parts.Platform(), sha256.Sum256(content)); err != nil ||
		!strings.HasSuffix(string(text), want) {
		t.Errorf("parts.lock: %q, %v", text, err)
	}
	content = programArchive(t, "two") // the publisher has replaced the archive
	if code, text := run("add"); code != 1 || !strings.Contains(text, "another file than before") {
		t.Errorf("a changed release: %d %q", code, text)
	}
}

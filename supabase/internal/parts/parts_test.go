package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// studio is a part for tests.
var studio = Part{Name: "studio", Version: "2026.1", Program: "bin/studio"}

// archive returns an archive of studio with a content of the program.
func archive(t *testing.T, content string) []byte {
	t.Helper()
	return compress(t, "zst", tarOf(t, file("./bin/studio", content), symlink("./studio", "bin/studio")))
}

// store returns a store for a new project. Stores with the same cache share the unpacked parts.
func store(t *testing.T, cache string) *Store {
	t.Helper()
	return &Store{Dir: cache, Lock: filepath.Join(t.TempDir(), "supabase", "parts.lock")}
}

// written returns the path of a new file.
func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// release serves a release of studio. files replaces or, with nil, removes files of it.
func release(t *testing.T, content []byte, files map[string][]byte) string {
	t.Helper()
	stem := "studio-2026.1-" + Platform()
	all := map[string][]byte{
		stem + ".tar.zst":       content,
		stem + ".manifest.json": []byte(`{"os_floor": {"kind": "glibc", "floor": null}}`),
		"SHA256SUMS": fmt.Appendf(nil, "%x  %s.tar.zst\n%x  %s.sbom.spdx.json\n", sha256.Sum256(content), stem,
			sha256.Sum256(nil), stem),
	}
	for name, text := range files {
		all[strings.ReplaceAll(name, "STEM", stem)] = bytes.ReplaceAll(text, []byte("STEM"), []byte(stem))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := all[strings.TrimPrefix(r.URL.Path, "/studio-2026.1/")]
		if len(text) == 0 {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(client.CloseIdleConnections)
	return server.URL
}

func TestAddRelease(t *testing.T) {
	s := store(t, t.TempDir())
	if _, ok, err := s.Find(studio); ok || err != nil {
		t.Fatalf("before: %v, %v", ok, err)
	}
	var done, total int64
	content := archive(t, "one")
	source := Release(release(t, content, nil), func(d, n int64) { done, total = d, n })
	folder, err := s.Add(t.Context(), studio, source)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "studio")); err != nil || string(text) != "one" {
		t.Errorf("program: %q, %v", text, err)
	}
	if done != int64(len(content)) || total != done {
		t.Errorf("progress: %d of %d", done, total)
	}
	lock, err := os.ReadFile(s.Lock)
	want := fmt.Sprintf("\nstudio 2026.1 %s sha256:%x\n", Platform(), sha256.Sum256(content))
	if err != nil || !strings.HasSuffix(string(lock), want) {
		t.Errorf("lock: %q, %v; want the end %q", lock, err, want)
	}
	found, ok, err := s.Find(studio)
	if found != folder || !ok || err != nil {
		t.Errorf("found %q, %v, %v", found, ok, err)
	}
	never := func(context.Context, Part, string) (Archive, error) { return Archive{}, errors.New("fetched again") }
	if again, err := s.Add(t.Context(), studio, never); again != folder || err != nil {
		t.Errorf("added again: %q, %v", again, err)
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestAddRefusesRelease(t *testing.T) {
	other := []byte(strings.Repeat("0", 64))
	for what, tt := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"another digest": {map[string][]byte{"SHA256SUMS": append(other, "  STEM.tar.zst\n"...)}, "publisher names"},
		"no digests":     {map[string][]byte{"SHA256SUMS": nil}, "404"},
		"another platform": {map[string][]byte{"SHA256SUMS": append(other, "  studio-2026.1-plan9-mips.tar.zst\n"...)},
			"no archive for this platform"},
		"no archive":        {map[string][]byte{"STEM.tar.zst": nil}, "404"},
		"a changed archive": {map[string][]byte{"STEM.tar.zst": archive(t, "two")}, "its publisher names"},
		"a newer system": {map[string][]byte{"STEM.manifest.json": []byte(
			`{"os_floor": {"kind": "glibc", "floor": "99.1"}}`)}, "needs glibc 99.1 or newer"},
		"a missing manifest": {map[string][]byte{"STEM.manifest.json": nil}, "404"},
	} {
		s := store(t, t.TempDir())
		_, err := s.Add(t.Context(), studio, Release(release(t, archive(t, "one"), tt.files), nil))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", what, err, tt.want)
		}
		if _, err := os.Stat(s.Lock); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: parts.lock: %v", what, err)
		}
		if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", what, left, err)
		}
	}
}

// TestAddNeedsSameArchive checks that a project that has locked an archive accepts no other one on
// another machine, neither from the publisher nor from a file.
func TestAddNeedsSameArchive(t *testing.T) {
	s := store(t, t.TempDir())
	if _, err := s.Add(t.Context(), studio, File(written(t, "a.tar.zst", archive(t, "one")))); err != nil {
		t.Fatal(err)
	}
	s.Dir = t.TempDir() // another machine
	if _, ok, err := s.Find(studio); ok || err != nil {
		t.Fatalf("on another machine: %v, %v", ok, err)
	}
	changed := archive(t, "two")
	for what, source := range map[string]Source{
		"release": Release(release(t, changed, nil), nil), "file": File(written(t, "a.tar.zst", changed)),
	} {
		_, err := s.Add(t.Context(), studio, source)
		if err == nil || !strings.Contains(err.Error(), "another file than before") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Add(t.Context(), studio, File(written(t, "a.tar.zst", archive(t, "one")))); err != nil {
		t.Errorf("the same archive: %v", err)
	}
}

func TestAddRefusesFile(t *testing.T) {
	for what, tt := range map[string]struct {
		content []byte
		want    string
	}{
		"another program": {compress(t, "gz", tarOf(t, file("bin/other", "x"))), "holds no program bin/studio"},
		"a path outside": {compress(t, "gz", tarOf(t, file("bin/studio", "x"), file("../evil", "x"))),
			"leads out of the folder"},
		"too many bytes": {archive(t, strings.Repeat("x", 2000)), "more bytes than allowed"},
	} {
		s := store(t, t.TempDir())
		s.Most = 1000
		_, err := s.Add(t.Context(), studio, File(written(t, "a.tar.zst", tt.content)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", what, err, tt.want)
		}
		if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", what, left, err)
		}
	}
	for _, p := range []Part{{Name: "..", Version: "1"}, {Name: "a/b", Version: "1"}, {Name: "a", Version: ""}} {
		if _, err := store(t, t.TempDir()).Add(t.Context(), p, File("unused")); err == nil {
			t.Errorf("%+v was added", p)
		}
	}
}

// TestFileManifest checks that a manifest beside a file decides like a release's.
// TestAddKeepsOthers checks that a part that is recorded during a download stays in the lock file.
func TestAddKeepsOthers(t *testing.T) {
	s := store(t, t.TempDir())
	file := written(t, "studio.tar.zst", archive(t, "x"))
	other := Part{Name: "deno", Version: "2", Platform: "linux-amd64"}
	slow := func(ctx context.Context, p Part, dir string) (Archive, error) {
		lock, err := ReadLock(s.Lock)
		if err == nil {
			err = lock.Record(other, strings.Repeat("a", 64))
		}
		return Archive{File: file}, err
	}
	if _, err := s.Add(t.Context(), Part{Name: "studio", Version: "1"}, slow); err != nil {
		t.Fatal(err)
	}
	lock, err := ReadLock(s.Lock)
	if err != nil || lock.Version("deno") != "2" || lock.Version("studio") != "1" {
		t.Errorf("%+v, %v", lock, err)
	}
}

func TestFileManifest(t *testing.T) {
	path := written(t, "studio.tar.zst", archive(t, "one"))
	manifest := strings.TrimSuffix(path, ".tar.zst") + ".manifest.json"
	if err := os.WriteFile(manifest, []byte(`{"os_floor": {"kind": "macos", "floor": "99"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store(t, t.TempDir()).Add(t.Context(), studio, File(path)); err == nil ||
		!strings.Contains(err.Error(), "needs macOS 99 or newer") {
		t.Error(err)
	}
}

func TestRemoveAndStatus(t *testing.T) {
	s := store(t, t.TempDir())
	if all, err := s.Status(); len(all) > 0 || err != nil {
		t.Fatalf("before: %v, %v", all, err)
	}
	if err := s.Remove(studio); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("remove before: %v", err)
	}
	folder, err := s.Add(t.Context(), studio, File(written(t, "a.tar.zst", archive(t, "one"))))
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Status()
	if err != nil || len(all) != 1 || all[0].Folder != folder || all[0].Bytes != 3 || all[0].Version != "2026.1" {
		t.Errorf("status: %+v, %v", all, err)
	}
	if err := s.Remove(studio); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	all, err = s.Status()
	if err != nil || len(all) != 1 || all[0].Folder != "" || all[0].SHA256 == "" {
		t.Errorf("status afterwards: %+v, %v", all, err)
	}
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parts.lock")
	sum := func(digit string) string { return strings.Repeat(digit, 64) }
	text := "# comment\n\ndeno 2.5 linux-amd64 sha256:" + sum("a") + "\nstudio 1 linux-amd64 sha256:" + sum("b") +
		"\nstudio 1 darwin-arm64 sha256:" + sum("c") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := ReadLock(path)
	if err != nil || lock.Version("studio") != "1" || lock.Version("postgres") != "" {
		t.Fatalf("%+v, %v", lock, err)
	}
	on := func(name, version string) Part { return Part{Name: name, Version: version, Platform: "linux-amd64"} }
	err = errors.Join(lock.Check(on("studio", "1"), sum("b")), lock.Check(on("studio", "2"), sum("f")))
	if err != nil {
		t.Error(err)
	}
	if lock.Check(on("studio", "1"), sum("c")) == nil || lock.Record(on("deno", "2.5"), sum("b")) == nil {
		t.Error("another digest was accepted")
	}
	// a new version replaces the old one for all platforms
	if err := lock.Record(on("studio", "2"), sum("d")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := lockHeader + "deno 2.5 linux-amd64 sha256:" + sum("a") + "\nstudio 2 linux-amd64 sha256:" + sum("d") +
		"\n"; err != nil || string(got) != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
	}
	s := &Store{Lock: path}
	if p, err := s.Locked(Part{Name: "studio", Version: "9"}); err != nil || p.Version != "2" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"studio 1 linux-amd64", "studio 1 linux-amd64 sha256:xyz",
		"studio 1 linux-amd64 " + sum("a"), "../x 1 linux-amd64 sha256:" + sum("a")} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLock(path); err == nil || !strings.Contains(err.Error(), "parts.lock:1:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestFloor(t *testing.T) {
	for _, tt := range []struct {
		kind, floor, have, want string
	}{
		{"glibc", "2.39", "2.39", ""},
		{"glibc", "2.39", "2.41", ""},
		{"glibc", "2.9", "2.36", ""},
		{"glibc", "2.39", "2.36", "the archive needs glibc 2.39 or newer, and this machine has 2.36"},
		{"glibc", "2.39", "", "which this machine does not have"},
		{"macos", "14.0", "14", ""},
		{"macos", "14", "13.6.1", "the archive needs macOS 14 or newer, and this machine has 13.6.1"},
		{"glibc", "two", "2.36", "is no version"},
		{"vms", "1", "1", "unknown os_floor.kind"},
	} {
		err := osFloor{tt.kind, tt.floor}.check(tt.have)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if err := checkManifest([]byte("<html>")); err == nil {
		t.Error("a page was read as a manifest")
	}
}

// TestNPM checks the source with a program in the place of npm.
func TestNPM(t *testing.T) {
	packed := written(t, "packed.tgz", compress(t, "gz", tarOf(t, file("package/deno", "program"))))
	bin := t.TempDir()
	script := "#!/bin/sh\n[ \"$1 $5 $6\" = \"pack $PWD @deno/linux@2.5.0\" ] || { echo \"wrong: $*\" >&2; exit 1; }\n" +
		"cp " + packed + " deno-linux-2.5.0.tgz\necho '[{\"filename\": \"deno-linux-2.5.0.tgz\"}]'\n"
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	deno := Part{Name: "deno", Version: "2.5.0", Program: "deno", Strip: "package"}
	folder, err := store(t, t.TempDir()).Add(t.Context(), deno, NPM("@deno/linux"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "deno")); err != nil || string(text) != "program" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := store(t, t.TempDir()).Add(t.Context(), deno, NPM("@deno/other")); err == nil ||
		!strings.Contains(err.Error(), "wrong: pack") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := store(t, t.TempDir()).Add(t.Context(), deno, NPM("@deno/linux")); err == nil ||
		!strings.Contains(err.Error(), "npm is not installed") {
		t.Error(err)
	}
}

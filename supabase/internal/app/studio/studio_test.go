package studio

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"daawo/supabase/internal/parts"
)

// standInVariable makes the test's program the stand-in for Studio.
const standInVariable = "STUDIO_STAND_IN"

func TestMain(m *testing.M) {
	if os.Getenv(standInVariable) != "" {
		standIn()
		return
	}
	goleak.VerifyTestMain(m)
}

// standIn serves what the tests need of Studio.
func standIn() {
	http.HandleFunc("/api/platform/profile", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/variable", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, os.Getenv(r.URL.Query().Get("name")))
	})
	http.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) })
	http.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { time.Sleep(600 * time.Millisecond) })
	http.HandleFunc("/child", func(w http.ResponseWriter, _ *http.Request) {
		child := exec.Command("sleep", "600")
		if err := child.Start(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, child.Process.Pid)
	})
	http.HandleFunc("/memory", func(_ http.ResponseWriter, r *http.Request) {
		used := bytes.Repeat([]byte("x"), 300<<20)
		<-r.Context().Done()
		runtime.KeepAlive(used)
	})
	fmt.Println("stand-in is ready")
	panic(http.ListenAndServe(net.JoinHostPort(os.Getenv("HOSTNAME"), os.Getenv("PORT")), nil))
}

// script returns the launcher of an archive that runs the test's program.
func script(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "#!/bin/sh\n" + standInVariable + "=1 exec '" + program + "'\n"
}

// added returns the store of a project to which an archive with the launcher is added.
func added(t *testing.T, launcher string) *parts.Store {
	t.Helper()
	var archive bytes.Buffer
	z, err := zstd.NewWriter(&archive, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	h := &tar.Header{Name: "./bin/studio", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(launcher))}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, launcher); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "studio.tar.zst")
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(file, archive.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := &parts.Store{Dir: filepath.Join(dir, "cache"), Lock: filepath.Join(dir, "parts.lock")}
	if _, err := store.Add(t.Context(), Part, parts.File(file)); err != nil {
		t.Fatal(err)
	}
	return store
}

// serve returns the address of a Server for an added archive, and the Server.
func serve(t *testing.T, launcher string, change func(*Options)) (string, *Server) {
	t.Helper()
	store := added(t, launcher)
	o := Options{
		Find: func() (string, bool, error) { return store.Find(Part) },
		Variables: func(_ context.Context, f Folders) ([]string, error) {
			return []string{"SUPABASE_SERVICE_KEY=secret-of-the-test", "SNIPPETS_MANAGEMENT_FOLDER=" + f.Snippets}, nil
		},
		Dir: filepath.Join(t.TempDir(), "studio"), Command: "daawo", Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	s := New(o)
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return server.URL, s
}

// TestFunctionsAreUpToDate checks that the folder of functions is written before Studio reads it.
func TestFunctionsAreUpToDate(t *testing.T) {
	var calls []string
	address, s := serve(t, script(t), func(o *Options) {
		o.Functions = func(f Folders) error { calls = append(calls, f.Functions); return nil }
	})
	for _, path := range []string{"/", "/api/platform/profile", "/api/v1/projects/default/functions"} {
		if status, text := get(t, address+path, ""); status >= 500 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	if want := s.folders().Functions; !slices.Equal(calls, []string{want}) {
		t.Errorf("%v, want one call with %s", calls, want)
	}
}

// get returns the status and the body of a reply. accept is the header Accept.
func get(t *testing.T, url, accept string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// gone waits until a process has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%q is no process id", pid)
	}
	for end := time.Now().Add(time.Minute); running(n); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d still runs", n)
		}
	}
}

// running reports whether a process exists and has not ended.
func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestFirstRequestStarts(t *testing.T) {
	url, s := serve(t, script(t), nil)
	if s.program.Running() {
		t.Fatal("it runs before the first request")
	}
	status, page := get(t, url, "text/html")
	if status != http.StatusServiceUnavailable || !strings.Contains(page, "is starting") ||
		!strings.Contains(page, `http-equiv="refresh"`) {
		t.Errorf("while it starts: %d\n%s", status, page)
	}
	status, text := get(t, url+"/variable?name=SUPABASE_SERVICE_KEY", "application/json")
	if status != http.StatusOK || text != "secret-of-the-test" {
		t.Errorf("%d %q", status, text)
	}
	if status, text := get(t, url+"/pid", "text/html"); status != http.StatusOK || text == "" {
		t.Errorf("a page of Studio: %d %q", status, text)
	}
	if _, text := get(t, url+"/variable?name=HOME", ""); text != filepath.Join(s.o.Dir, "home") {
		t.Errorf("HOME=%q", text)
	}
	_, pid := get(t, url+"/pid", "")
	line, err := exec.Command("ps", "-o", "args=", "-p", pid).Output()
	if err != nil || strings.Contains(string(line), "secret") {
		t.Errorf("command line: %q, %v", line, err)
	}
	info, err := os.Stat(s.o.Dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
	if status, _ := get(t, url, ""); status != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d", status)
	}
}

// TestEnvironmentIsNotPassedOn checks that a secret of the server reaches the program only if
// Variables names it.
func TestEnvironmentIsNotPassedOn(t *testing.T) {
	t.Setenv("STUDIO_TEST_SECRET", "x")
	url, _ := serve(t, script(t), nil)
	if _, text := get(t, url+"/variable?name=STUDIO_TEST_SECRET", ""); text != "" {
		t.Errorf("the program sees %q", text)
	}
}

func TestIdleEnds(t *testing.T) {
	url, _ := serve(t, script(t), func(o *Options) { o.Idle = 400 * time.Millisecond })
	_, first := get(t, url+"/pid", "")
	if status, _ := get(t, url+"/slow", ""); status != http.StatusOK { // longer than Idle
		t.Errorf("a slow request: %d", status)
	}
	gone(t, first)
	status, second := get(t, url+"/pid", "")
	if status != http.StatusOK || second == first {
		t.Errorf("the next request: %d, process %s after %s", status, second, first)
	}
}

func TestCrashStartsAgain(t *testing.T) {
	url, _ := serve(t, script(t), nil)
	_, first := get(t, url+"/pid", "")
	if status, _ := get(t, url+"/crash", ""); status != http.StatusServiceUnavailable {
		t.Errorf("the request in which it ended: %d", status)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, pid := get(t, url+"/pid", "")
		if status == http.StatusOK && pid != first {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after a crash: %d, process %s", status, pid)
		}
	}
}

func TestFailedStart(t *testing.T) {
	url, s := serve(t, "#!/bin/sh\necho no luck >&2\nexit 7\n", nil)
	status, page := get(t, url, "application/json")
	if status != http.StatusServiceUnavailable || !strings.Contains(page, "did not start") ||
		!strings.Contains(page, "exit status 7") {
		t.Errorf("%d\n%s", status, page)
	}
	output := filepath.Join(s.o.Dir, "output.log")
	if !strings.Contains(page, output) {
		t.Errorf("the page does not name %s:\n%s", output, page)
	}
	if text, err := os.ReadFile(output); err != nil || string(text) != "no luck\n" {
		t.Errorf("output: %q, %v", text, err)
	}
}

// TestOutputIsBounded checks that a program which prints much fills no disk.
func TestOutputIsBounded(t *testing.T) {
	url, s := serve(t, "#!/bin/sh\nhead -c 3000000 /dev/zero\nexit 7\n", nil)
	if status, _ := get(t, url, ""); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.o.Dir, "output.log"))
	if err != nil || info.Size() != maxOutput {
		t.Errorf("%v, %v", info, err)
	}
}

// TestOutputFollowsNoLink checks that a link which the program left in its folder leads to no other
// file.
func TestOutputFollowsNoLink(t *testing.T) {
	url, s := serve(t, "#!/bin/sh\necho no luck >&2\nexit 7\n", nil)
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("kept"), 0o600), os.MkdirAll(s.o.Dir, 0o700),
		os.Symlink(other, filepath.Join(s.o.Dir, "output.log"))); err != nil {
		t.Fatal(err)
	}
	status, page := get(t, url, "")
	if status != http.StatusServiceUnavailable || !strings.Contains(page, "exit status 7") {
		t.Errorf("%d\n%s", status, page)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestMemoryLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of processes is known on Linux only")
	}
	url, _ := serve(t, script(t), func(o *Options) { o.Memory, o.Idle = 200<<20, 400*time.Millisecond })
	_, pid := get(t, url+"/pid", "")
	if status, _ := get(t, url+"/memory", ""); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
	gone(t, pid)
}

// TestChildrenEnd checks that processes that the program started end with it.
func TestChildrenEnd(t *testing.T) {
	url, s := serve(t, script(t), nil)
	_, child := get(t, url+"/child", "")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, child)
}

func TestNotAdded(t *testing.T) {
	url, _ := serve(t, script(t), func(o *Options) {
		o.Find = func() (string, bool, error) { return "", false, nil }
		o.Docker = func(context.Context) (string, error) { return "docker run studio", nil }
	})
	status, page := get(t, url, "text/html")
	for _, want := range []string{"daawo studio add", "docker run studio", "STUDIO_URL"} {
		if status != http.StatusNotFound || !strings.Contains(page, want) {
			t.Errorf("%d, want %q:\n%s", status, want, page)
		}
	}
}

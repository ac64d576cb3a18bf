package edgeruntime

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/parts"
)

// installedDeno returns the Deno that `npm ci` installs.
func installedDeno(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("../../../../node_modules/@deno/" + runtime.GOOS + "-*/deno") // a valid pattern
	if len(found) == 0 {
		t.Fatal("node_modules has no Deno: run `npm ci`")
	}
	program, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// archive returns the file of an archive with the stand-in.
func archive(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for name, file := range map[string]string{"bin/edge-runtime": "edge-runtime.sh", "bin/stand-in.js": "stand-in.js"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte(`"DENO"`), []byte(`"`+installedDeno(t)+`"`))
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "edge-runtime.tar.zst")
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(file, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return file
}

// served is a service whose functions the stand-in runs.
type served struct {
	*deno.Service
	url, root string
	store     *parts.Store
	runtime   *Runtime
	log       *bytes.Buffer // read it after Close
}

// serve starts a service with these sources of functions.
func serve(t *testing.T, sources map[string]string) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{
		root: filepath.Join(dir, "supabase"), log: &bytes.Buffer{},
		store: &parts.Store{Dir: filepath.Join(dir, "parts"), Lock: filepath.Join(dir, "parts.lock")},
	}
	settings := map[string]config.Function{}
	for name, source := range sources {
		s.write(t, name, source)
		settings[name] = config.Function{Enabled: true, VerifyJWT: name == "guarded"}
	}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	vars := func() (map[string]string, error) { return map[string]string{"SECRET_OF_TEST": "value"}, nil }
	s.runtime = New(Options{
		Find: func() (string, bool, error) { return s.store.FindLocked(Part) }, Dir: filepath.Join(dir, "edge-runtime"),
		Vars: vars, Getenv: func(string) (string, bool) { return "", false }, Project: "test", Region: "here", Log: log,
	})
	var err error
	s.Service, err = deno.New(deno.Options{
		Root: s.root, Settings: settings, Watch: true, Runner: s.runtime, Vars: vars, Log: log,
		Taken: func(string) error { return nil },
	}, host.Options{Log: log, Verify: func(string) (json.RawMessage, error) { return nil, errors.New("not valid") }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Next(http.NotFoundHandler()))
	s.url = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) write(t *testing.T, name, source string) {
	t.Helper()
	file := filepath.Join(s.root, "functions", name, "index.ts")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte(source), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// call calls a function and returns the status, the code of an error, and the body.
func (s *served) call(t *testing.T, path string) (status int, code, body string) {
	t.Helper()
	res, err := http.Post(s.url+path, "text/plain", strings.NewReader("sent"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("Sb-Error-Code"), string(text)
}

// TestRuntime calls functions that the stand-in runs: nothing starts before the first call, an edit
// is served, and errors have the codes of Supabase's.
func TestRuntime(t *testing.T) {
	s := serve(t, map[string]string{
		"hello": `Deno.serve(async (r) => Response.json([await r.text(), new URL(r.url).pathname,
			[...r.headers.keys()].filter((n) => n.startsWith("x-daawo")), Deno.env.get("SECRET_OF_TEST"),
			Deno.env.get("SB_REGION"), Deno.env.get("DENO_DEPLOYMENT_ID"), Deno.env.get("DAAWO_RUNTIME_KEY") ?? null,
			r.headers.get("x-forwarded-for")]))`,
		"broken":  `import "./missing.ts";`,
		"throws":  `Deno.serve(() => { throw new Error("on purpose"); })`,
		"ends":    `Deno.serve(() => Deno.exit(3))`,
		"guarded": `Deno.serve(() => new Response("guarded"))`,
		"pid":     `Deno.serve(() => new Response(String(Deno.pid)))`,
	})
	if status, code, body := s.call(t, "/hello"); status != http.StatusNotImplemented || code != "NOT_IMPLEMENTED" ||
		!strings.Contains(body, "daawo edge-runtime add") {
		t.Errorf("before it is added: %d %s %s", status, code, body)
	}
	if _, err := s.store.Add(t.Context(), Part, parts.File(archive(t))); err != nil {
		t.Fatal(err)
	}
	s.runtime.Restart() // instead of the pause after a failed start
	const want = `["sent","/hello/below",[],"value","here","test_hello_1",null,null]`
	if status, _, body := s.call(t, "/hello/below"); status != http.StatusOK || body != want {
		t.Errorf("%d %s, want %s", status, body, want)
	}
	for _, tt := range []struct {
		name   string
		status int
		code   string
		text   string
	}{
		{"broken", 503, "BOOT_ERROR", "missing.ts"}, {"throws", 500, "WORKER_ERROR", "Function exited due to an error"},
		{"ends", 500, "WORKER_ERROR", "Function exited due to an error"}, {"guarded", 401, "", "UNAUTHORIZED"},
		{"none", 404, "", ""},
	} {
		status, code, body := s.call(t, "/"+tt.name)
		if status != tt.status || tt.code != "" && code != tt.code || !strings.Contains(body, tt.text) {
			t.Errorf("%s: %d %s %s", tt.name, status, code, body)
		}
	}
	for end := time.Now().Add(time.Minute); ; { // a call may still reach the process that ends
		status, code, body := s.call(t, "/hello")
		if status == http.StatusOK {
			break
		}
		if code != "WORKER_ERROR" || time.Now().After(end) {
			t.Fatalf("after a crash: %d %s", status, body)
		}
	}
	_, _, before := s.call(t, "/pid")
	s.write(t, "pid", `Deno.serve(() => new Response("edited " + Deno.pid))`)
	if _, _, after := s.call(t, "/pid"); !strings.HasPrefix(after, "edited ") || strings.HasSuffix(after, before) {
		t.Errorf("after an edit: %q, before %q", after, before)
	}
	if runtime.GOOS == "linux" && s.Memory() < 10<<20 {
		t.Errorf("memory: %d bytes", s.Memory())
	}
}

// TestRuntimeIsPrivate checks that other programs of this machine cannot call a function past the
// checks, and that secrets are not on the command line. It ends with the service.
func TestRuntimeIsPrivate(t *testing.T) {
	s := serve(t, map[string]string{
		"where": `Deno.serve(() => new Response(Deno.pid + " " + Deno.env.get("STAND_IN_PORT")))`,
	})
	if _, err := s.store.Add(t.Context(), Part, parts.File(archive(t))); err != nil {
		t.Fatal(err)
	}
	_, _, where := s.call(t, "/where")
	pid, port, ok := strings.Cut(where, " ")
	if !ok {
		t.Fatal(where)
	}
	line, err := exec.Command("ps", "-o", "args=", "-p", pid).Output()
	if err != nil || strings.Contains(string(line), "value") || strings.Contains(string(line), s.runtime.key) {
		t.Errorf("command line: %s, %v", line, err)
	}
	res, err := http.Get("http://" + net.JoinHostPort("127.0.0.1", port) + "/where")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a call without the key: %s", res.Status)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); exec.Command("ps", "-p", pid).Run() == nil; {
		if time.Sleep(10 * time.Millisecond); time.Now().After(end) {
			t.Fatal("the process still runs")
		}
	}
}

package deno

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/functions/child"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jail"
	"daawo/supabase/internal/parts"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), // http.DefaultClient keeps idle connections
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// installed returns the Deno that `npm ci` installs.
func installed(t testing.TB) string {
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

// serving starts a service with these sources of functions and returns it with its address.
func serving(t testing.TB, limits Limits, sources map[string]string) (*Service, string) {
	t.Helper()
	return servingWith(t, limits, sources, nil)
}

// servingWith is serving with the settings of some functions.
func servingWith(t testing.TB, limits Limits, sources map[string]string, given map[string]config.Function) (*Service,
	string) {
	t.Helper()
	root := t.TempDir()
	settings := map[string]config.Function{}
	for name, source := range sources {
		dir := filepath.Join(root, "functions", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "index.ts"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		settings[name] = config.Function{Enabled: true}
	}
	maps.Copy(settings, given)
	program := installed(t)
	log := slog.New(slog.DiscardHandler)
	s, err := New(Options{
		Root: root, Settings: settings, Cache: filepath.Join(t.TempDir(), "deno"), Limits: limits, Log: log,
		Deno:   func(context.Context) (string, error) { return program, nil },
		Vars:   func() (map[string]string, error) { return map[string]string{}, nil },
		Getenv: func(string) (string, bool) { return "", false }, Taken: func(string) error { return nil },
	}, host.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Next(http.NotFoundHandler()))
	t.Cleanup(func() {
		server.Close()
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s, server.URL
}

// get calls a function and returns the status, the code of an error, and the body.
func get(t testing.TB, url string) (status int, code, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error(), ""
	}
	return res.StatusCode, res.Header.Get("Sb-Error-Code"), string(text)
}

// alive returns the processes of a service.
func (s *Service) alive() []int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	var pids []int
	for _, p := range s.pool.live {
		if !p.retired && p.hasStarted() {
			pids = append(pids, p.pid())
		}
	}
	return pids
}

// busy returns the number of calls in flight.
func (s *Service) busy() (calls int) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for _, p := range s.pool.live {
		calls += p.calls
	}
	return calls
}

// TestKilledProcesses calls functions while their processes are killed: each call gets a reply, and
// a failed one has a code.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	for i := range 6 {
		sources[fmt.Sprintf("f%d", i)] = fmt.Sprintf(`Deno.serve(async () => {
			await new Promise((resolve) => setTimeout(resolve, 10));
			return new Response("%d");
		})`, i)
	}
	s, url := serving(t, Limits{Processes: 4}, sources)
	ctx, stop := context.WithCancel(t.Context())
	var killer sync.WaitGroup
	killer.Go(func() {
		for ctx.Err() == nil {
			if pids := s.alive(); len(pids) > 0 {
				_ = syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL) // it may have ended
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	var mu sync.Mutex
	seen := map[string]int{}
	var callers sync.WaitGroup
	for c := range 6 {
		callers.Go(func() {
			for i := range 15 {
				n := (c + i/3) % 6
				status, code, body := get(t, fmt.Sprintf("%s/f%d", url, n))
				if status == 200 && body != fmt.Sprint(n) || status != 200 && code == "" || status != 200 && status < 500 {
					t.Errorf("%d %s %s", status, code, body)
				}
				mu.Lock()
				seen[fmt.Sprint(status, " ", code)]++
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	stop()
	killer.Wait()
	t.Log(seen)
	if seen["200 "] == 0 {
		t.Error("no call had success")
	}
	for n := range 6 { // all serve again; a process that was killed last may fail one more call
		status, code, _ := get(t, fmt.Sprintf("%s/f%d", url, n))
		if code == "WORKER_ERROR" {
			status, code, _ = get(t, fmt.Sprintf("%s/f%d", url, n))
		}
		if status != 200 {
			t.Errorf("after the kills: %d %s", status, code)
		}
	}
}

// TestProcessLife checks that a process serves many calls, ends when it is idle or its place is
// needed, and that a call waits while all processes are busy.
func TestProcessLife(t *testing.T) {
	t.Parallel()
	source := `const born = crypto.randomUUID();
		Deno.serve(async (r) => {
			await new Promise((resolve) => setTimeout(resolve, Number(new URL(r.url).searchParams.get("ms"))));
			return new Response(born);
		})`
	s, url := serving(t, Limits{Processes: 1, Idle: 2 * time.Second, Wait: 20 * time.Second, Wall: 20 * time.Second},
		map[string]string{"a": source, "b": source})
	_, _, first := get(t, url+"/a")
	if _, _, second := get(t, url+"/a"); second != first {
		t.Error("the second call ran in another process")
	}
	var slow sync.WaitGroup
	slow.Go(func() {
		if status, _, body := get(t, url+"/a?ms=500"); status != 200 || body != first {
			t.Errorf("the slow call: %d", status)
		}
	})
	for s.busy() == 0 {
		time.Sleep(time.Millisecond)
	}
	if status, code, _ := get(t, url+"/b"); status != 200 {
		t.Errorf("a call while all processes are busy: %d %s", status, code)
	}
	slow.Wait()
	for deadline := time.Now().Add(time.Minute); len(s.alive()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("an idle process does not end")
		}
	}
	if _, _, again := get(t, url+"/a"); again == first || again == "" {
		t.Errorf("after the end: %q", again)
	}
}

// TestSocketIsRemoved checks that a process leaves no socket file, also if it is killed.
func TestSocketIsRemoved(t *testing.T) {
	policy := jail.Policy{Program: "/bin/sh", Listens: true, Bound: true}
	cell, err := jail.Command(policy)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(cell.Folder, "socket")
	cell.Cmd.Args = append(cell.Cmd.Args, "-c", `: > "$0"; kill -9 $$`, socket)
	p := newProcess(processKey{}, nil, slog.New(slog.DiscardHandler))
	if err := p.start(launch{cell, policy, socket, nil, time.Minute}, child.Failed); err != nil {
		t.Fatal(err)
	}
	<-p.booted
	<-p.exited
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

// TestConfigurationAbove checks that a function without an import map uses the configuration of
// Deno that is nearest above it, as upstream's runtime does.
func TestConfigurationAbove(t *testing.T) {
	s, url := serving(t, Limits{}, map[string]string{
		"maps": `import { text } from "shared/text"; Deno.serve(() => new Response(text))`})
	write := func(name, text string) {
		file := filepath.Join(s.Root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("functions/_shared/text.ts", `export const text = "mapped"`)
	for _, c := range []struct{ file, folder string }{
		{"deno.json", "./functions/_shared/"}, {"functions/deno.json", "./_shared/"},
	} {
		write(c.file, `{"imports": {"shared/text": "`+c.folder+`text.ts"}}`)
		next, err := s.folder()
		if err == nil {
			err = s.use(next)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := next.functions["maps"].ImportMap; got != filepath.Join(s.Root, filepath.FromSlash(c.file)) {
			t.Errorf("%s: %s", c.file, got)
		}
		if status, _, body := get(t, url+"/maps"); status != http.StatusOK || body != "mapped" {
			t.Errorf("%s: %d %s", c.file, status, body)
		}
	}
}

// TestModelSession checks that a function which makes a session of a model at its start boots.
func TestModelSession(t *testing.T) {
	_, url := serving(t, Limits{}, map[string]string{"model": `const session = new Supabase.ai.Session("gte-small");
		Deno.serve(async () => new Response(await session.run("x").catch((error) => error.message)))`})
	if status, _, body := get(t, url+"/model"); status != http.StatusOK || !strings.Contains(body, "not available") {
		t.Errorf("%d %s", status, body)
	}
}

// TestMissingImportMap checks that a function without its import map does not stop the others.
func TestMissingImportMap(t *testing.T) {
	source := `Deno.serve(() => new Response("ran"))`
	_, url := servingWith(t, Limits{}, map[string]string{"good": source, "bad": source},
		map[string]config.Function{"bad": {Enabled: true, ImportMap: "./gone.json"}})
	if status, _, body := get(t, url+"/good"); status != http.StatusOK || body != "ran" {
		t.Errorf("good: %d %s", status, body)
	}
	if status, code, body := get(t, url+"/bad"); status != http.StatusServiceUnavailable || code != "BOOT_ERROR" ||
		!strings.Contains(body, "functions.bad.import_map: there is no file") {
		t.Errorf("bad: %d %s %s", status, code, body)
	}
}

// TestRunnerTakesNoBundle checks that a deployment is refused while another runtime, which runs the
// files of the folder, has the functions.
func TestRunnerTakesNoBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bundle.zip")
	var content bytes.Buffer
	z := zip.NewWriter(&content)
	if err := errors.Join(z.SetComment(bundleComment), z.Close(),
		os.WriteFile(file, content.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := &Service{Options: Options{Runner: struct{ Runner }{}}}
	if _, err := s.Open(file, "2", "2-x"); err == nil || !strings.Contains(err.Error(), "edge_runtime.distribution") {
		t.Error(err)
	}
}

// TestWallClock checks that a stream is cut off at the limit, and a call without a reply gets 546.
func TestWallClock(t *testing.T) {
	t.Parallel()
	_, url := serving(t, Limits{Wall: 1500 * time.Millisecond}, map[string]string{
		"hangs":   `Deno.serve(() => new Promise(() => {}))`,
		"streams": `Deno.serve(() => new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(1)); } })))`,
	})
	if status, code, body := get(t, url+"/hangs"); status != 546 || code != "WORKER_LIMIT" {
		t.Errorf("%d %s %s", status, code, body)
	}
	if status, code, _ := get(t, url+"/streams"); status != 0 || code == "" {
		t.Errorf("an endless stream ended with status %d", status)
	}
}

// pack writes an archive of npm with one file.
func pack(t *testing.T, archive, name, text string) {
	t.Helper()
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	files := tar.NewWriter(zip)
	err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = files.Write([]byte(text))
	}
	if err := errors.Join(err, files.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFinder checks where Deno is looked for.
func TestFinder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// not the real program: packing its 95 MB takes seconds
	archive := filepath.Join(dir, "deno.tgz")
	pack(t, archive, "package/deno", "#!/bin/sh\necho deno 2.9.0\n")
	store := &parts.Store{Dir: filepath.Join(dir, "parts"), Lock: filepath.Join(dir, "parts.lock")}
	folder, err := store.Add(t.Context(), Part, parts.File(archive))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Dir(write("script/deno", "#!/bin/sh\necho deno 2.9.0\n"))
	program := installed(t)
	module := filepath.Join(dir, "project", "node_modules", "@deno", platform(), "deno")
	if err := os.MkdirAll(filepath.Dir(module), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, module); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		finder  Finder
		want    string
		problem string
	}{
		{"DENO_PATH", Finder{Path: program}, program, ""},
		{"a wrong DENO_PATH", Finder{Path: "/bin/ls"}, "", "DENO_PATH: "},
		{"PATH", Finder{Search: script + ":" + filepath.Dir(program)}, program, ""},
		{"node_modules", Finder{Search: script, Home: filepath.Join(dir, "project", "below")}, module, ""},
		{"none", Finder{Search: script, Home: t.TempDir()}, "", "need Deno"},
		{"an added one", Finder{Added: store}, filepath.Join(folder, "deno"), ""},
	} {
		got, err := tt.finder.Find(t.Context())
		if got != tt.want || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

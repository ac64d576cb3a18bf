package stack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"daawo/supabase/stack"
)

// root is the top folder of the repository.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// publicDir makes a temporary folder that the user of Postgres can enter.
func publicDir() string {
	dir, err := os.MkdirTemp("", "stack-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		panic(err)
	}
	return dir
}

// blocks matches the files of docs/library.md: a line with a name in backquotes, then the content.
var blocks = regexp.MustCompile("(?m)^`([^`\n]+)`:\n\n```[a-z]*\n((?s:.*?))\n```$")

// writeGuide writes the files of docs/library.md of a repository into a folder. The go.mod points
// to the repository.
func writeGuide(t *testing.T, repository, dir string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(repository, "docs/library.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := blocks.FindAllStringSubmatch(string(page), -1)
	if len(found) != 6 {
		t.Fatalf("docs/library.md has %d files, want 6", len(found))
	}
	for _, b := range found {
		name, text := filepath.Join(dir, b[1]), strings.Replace(b[2], "=> ../daawo", "=> "+repository, 1)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// unoptimized compiles our packages without inlining, in half of the time.
const unoptimized = "-gcflags=.../supabase/...=-l -dwarf=false"

// buildGuide builds the program of docs/library.md. It carries Postgres if `make build` has packed
// it; otherwise the program finds it in node_modules.
func buildGuide(t *testing.T, dir string) string {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "clinic")
	args := []string{"build", unoptimized, "-mod=mod", "-o", program}
	if _, err := os.Stat(filepath.Join(root(t), "supabase/internal/database/server/bundle/postgres.zip")); err == nil {
		args = append(args, "-tags", "bundle,nodynamic")
	} else if err := os.Symlink(filepath.Join(root(t), "node_modules"),
		filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", append(args, ".")...)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOGC=off", "GOMEMLIMIT=1GiB")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// startGuide starts the program on free ports and returns its addresses and keys.
func startGuide(t *testing.T, program string) map[string]string {
	t.Helper()
	data := filepath.Join(filepath.Dir(program), "data")
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, append(args, "--data", data)...)
		cmd.Dir = filepath.Dir(program)
		return cmd
	}
	server := run("start", "--port", "0")
	log := &strings.Builder{}
	server.Stderr = log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(time.Minute, func() { _ = server.Process.Kill() })
		defer kill.Stop()
		if err := <-ended; err != nil {
			t.Errorf("stop: %v\n%s", err, log)
		}
	})
	for end := time.Now().Add(2 * time.Minute); ; {
		if out, err := run("status", "-o", "json").Output(); err == nil {
			values := map[string]string{}
			if err := json.Unmarshal(out, &values); err != nil {
				t.Fatal(err)
			}
			return values
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("start: %v\n%s", err, log)
		case <-time.After(100 * time.Millisecond):
			if time.Now().After(end) {
				t.Fatal("the server is not ready after two minutes") // the cleanup prints its log
			}
		}
	}
}

// call makes a request with an API key and returns status and body.
func call(t testing.TB, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Apikey", key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
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

// TestLibraryGuide builds and runs the program of docs/library.md in a module of its own.
func TestLibraryGuide(t *testing.T) {
	dir := publicDir()
	defer os.RemoveAll(dir)
	writeGuide(t, root(t), dir)
	program := buildGuide(t, dir)
	at := startGuide(t, program)

	if status, page := call(t, "GET", at["API_URL"]+"/", "", ""); status != 200 ||
		!strings.Contains(page, "served from "+at["SITE_URL"]) {
		t.Errorf("page: %d %s", status, page)
	}
	status, body := call(t, "POST", at["API_URL"]+"/functions/v1/book-visit", at["PUBLISHABLE_KEY"],
		`{"clinic":"Burao","day":"2026-09-01"}`)
	if status != http.StatusCreated {
		t.Errorf("function: %d %s", status, body)
	}
	status, body = call(t, "GET", at["API_URL"]+"/rest/v1/visits?select=clinic,day", at["PUBLISHABLE_KEY"], "")
	if want := `[{"clinic":"Burao","day":"2026-09-01"}]`; status != http.StatusOK || body != want {
		t.Errorf("rows: %d %s, want %s", status, body, want)
	}
	help, err := exec.Command(program, "start", "--help").Output()
	if err != nil || !strings.Contains(string(help), "clinic start") || strings.Contains(string(help), "daawo start") {
		t.Errorf("help does not name the program: %v\n%s", err, help)
	}
	if out, _ := exec.Command(program, "reports").CombinedOutput(); !strings.Contains(string(out), "not a command") {
		t.Errorf("a program has a command of another one: %s", out)
	}
}

// TestProjectWithoutFiles starts a stack whose project is empty: no config.toml, no migrations, no
// site.
func TestProjectWithoutFiles(t *testing.T) {
	dir := publicDir()
	defer os.RemoveAll(dir)
	s := stack.New(stack.Options{Project: fstest.MapFS{}},
		stack.Process{Data: filepath.Join(dir, "data"), FreePorts: true, Getenv: noEnv})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if status, body := call(t, "GET", s.Value("API_URL")+"/", "", ""); status != 200 ||
		!strings.Contains(body, s.Value("API_URL")+"/rest/v1") {
		t.Errorf("/: %d %s", status, body)
	}
	if status, _ := call(t, "GET", s.Value("API_URL")+"/elsewhere", "", ""); status != http.StatusNotFound {
		t.Errorf("/elsewhere: %d", status)
	}
	for name, again := range map[string]func(context.Context) error{"Start": s.Start, "Run": s.Run} {
		if err := again(t.Context()); err == nil || err.Error() != "the stack has been started" {
			t.Errorf("%s of a started stack: %v", name, err)
		}
	}
}

func noEnv(string) (string, bool) { return "", false }

// project is the project of the example.
var project fs.FS = fstest.MapFS{
	"migrations/20260101000000_notes.sql": {Data: []byte(`
		create table notes (text text);
		insert into notes values ('milk');
		grant select on notes to anon;`)},
}

func Example() {
	dir := publicDir() // the user of Postgres must be able to enter it
	defer os.RemoveAll(dir)

	s := stack.New(stack.Options{Project: project}, stack.Process{Data: dir + "/data", FreePorts: true})
	if err := s.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(context.Background())

	res, err := http.Get(s.Value("API_URL") + "/rest/v1/notes?apikey=" + s.Value("ANON_KEY"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	fmt.Println(string(body))
	// Output: [{"text":"milk"}]
}

package docker_test

import (
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// mostImage is the size limit of our image. baseImage is the part of distroless's static image (2
// MB with certificates and time zones).
const mostImage, baseImage = 80_000_000, 3_000_000

// TestImages builds every stage of the Dockerfile by its commands in empty folders and runs the
// results: the whole product from the embedded image's binary, and in front of it the gateway and
// the functions of our image, in a root file system with nothing else. It runs with LONG=1.
func TestImages(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("builds the product once more; LONG=1 runs it")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the images are for Linux")
	}
	dir := buildStages(t)

	image := filepath.Join(dir, "daawo")
	if bytes := sizeOf(t, image); bytes+baseImage > mostImage {
		t.Errorf("our image has %d MB", (bytes+baseImage)/1e6)
	}
	for _, binary := range []string{"daawo/daawo", "embedded/usr/local/bin/daawo"} {
		checkStatic(t, filepath.Join(dir, binary))
	}
	var config struct {
		User            string
		Entrypoint, Cmd []string
	}
	readJSON(t, image+".json", &config)
	if config.User != "65532:65532" {
		t.Errorf("our image runs as %q", config.User)
	}
	empty := emptyRoot{t, image}
	if out := empty.output(append(config.Entrypoint, config.Cmd...)...); !strings.Contains(out, "Usage: daawo") {
		t.Errorf("docker run prints %q", out)
	}

	stack := startStack(t, filepath.Join(dir, "embedded/usr/local/bin/daawo"))
	// occupy the inbox's port, as another server would
	if inbox, err := net.Listen("tcp", "127.0.0.1:54324"); err == nil {
		defer inbox.Close()
	}
	functions := empty.serve("functions", stack.with("PORT=0", "DATABASE_URL="+stack["DB_URL"], "SUPABASE_URL="+
		stack["API_URL"], "STORAGE_URL="+stack["STORAGE_URL"]))
	gateway := empty.serve("gateway",
		stack.with("AUTH_URL="+stack["AUTH_URL"], "REST_URL="+stack["REST_URL"], "STORAGE_URL="+stack["STORAGE_URL"],
			"FUNCTIONS_URL="+functions, "DAAWO_DATA=/data"), "--port", "0")
	empty.output("/daawo", "healthcheck", functions+"/_internal/health")
	empty.output("/daawo", "healthcheck", gateway+"/readyz")
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/so/", "", `lang="so"`},
		{"GET", "/rest/v1/resources?select=title&limit=1", "", `[{"title":`},
		{"POST", "/functions/v1/submit-report", `{"product_name":"Cream","issue_description":"It burns"}`,
			`"reference":"DW-`},
	} {
		if got := ask(t, tt.method, gateway+tt.path, tt.body, stack["ANON_KEY"]); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %.300s", tt.path, got)
		}
	}
}

// buildStages builds the stages with the npm packages that are installed here. `make docker-check`
// installs new ones.
func buildStages(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "images-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // other users run the binaries
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "run", "./scripts/image", "-modules", ".", dir)
	build.Dir = ".."
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return dir
}

func sizeOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// checkStatic checks that the binary needs no dynamic loader or libraries.
func checkStatic(t *testing.T, name string) {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s needs a dynamic loader", name)
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("%s needs %v (%v)", name, libraries, err)
	}
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, name)), v); err != nil {
		t.Fatal(err)
	}
}

// stack maps names of `daawo status` to the addresses and keys of a running server.
type stack map[string]string

// with returns the environment of a service in front of the stack.
func (s stack) with(more ...string) []string {
	for _, name := range []string{"JWT_SECRET", "ANON_KEY", "SERVICE_ROLE_KEY"} {
		more = append(more, name+"="+s[name])
	}
	return more
}

// startStack starts the whole product from one binary on free ports.
func startStack(t *testing.T, binary string) stack {
	t.Helper()
	data := filepath.Join(filepath.Dir(binary), "data")
	server := exec.Command(binary, "start", "--port", "0", "--data", data)
	running := start(t, server)
	running.waitFor(t, regexp.MustCompile(`ready in`))
	out, err := exec.CommandContext(t.Context(), binary, "status", "--data", data, "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s stack
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// emptyRoot runs programs in the root of an image that has no shell, libraries, /tmp or /etc.
type emptyRoot struct {
	t   *testing.T
	dir string
}

// command returns a command that runs a program of the image as its user. Without root it uses a
// user namespace to change the root. If that is not permitted, the program runs outside of the
// image.
func (e emptyRoot) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(e.t.Context(), args[0], args[1:]...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = e.inside()
	if cmd.SysProcAttr.Chroot == "" {
		cmd.Path = filepath.Join(e.dir, args[0])
	}
	return cmd
}

func (e emptyRoot) output(args ...string) string {
	e.t.Helper()
	out, err := e.command(args...).CombinedOutput()
	if err != nil {
		e.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// serve starts one service and returns its address.
func (e emptyRoot) serve(name string, environment []string, flags ...string) string {
	e.t.Helper()
	cmd := e.command(append([]string{"/daawo", "serve", name}, flags...)...)
	cmd.Env = environment
	return start(e.t, cmd).waitFor(e.t, regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`))
}

// process is a server that ends with the test.
type process struct {
	mu     sync.Mutex
	output strings.Builder
	exited chan struct{}
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	cmd.Cancel = nil
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-p.exited
	})
	return p
}

// waitFor waits until the output of the process matches and returns the match.
func (p *process) waitFor(t *testing.T, what *regexp.Regexp) string {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		output := p.output.String()
		p.mu.Unlock()
		if _, after, ok := strings.Cut(output, "ready in"); ok && what.MatchString("ready in"+after) {
			return what.FindString("ready in" + after)
		}
		select {
		case <-p.exited:
			t.Fatalf("the process ended:\n%s", output)
		default:
		}
	}
	t.Fatalf("no %s:\n%s", what, p.output.String())
	return ""
}

func ask(t *testing.T, method, url, body, key string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("apikey", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res.Status + " " + string(text)
}

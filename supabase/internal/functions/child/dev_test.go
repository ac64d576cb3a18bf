package child

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/observe/logattr"
	"daawo/supabase/internal/functions/host"
)

// registry returns the source of functions.go, with the function hello if there is one.
func registry(hello bool) string {
	source := `package functions

import (
	"daawo/supabase/edge"
)

var All = map[string]edge.Func{}
`
	if hello {
		source = strings.Replace(source, "edge\"\n", "edge\"\n\t\"notes/functions/hello\"\n", 1)
		source = strings.Replace(source, "{}", `{"hello": hello.Func}`, 1)
	}
	return source
}

// project returns the folder of a project without functions, whose module is notes. It uses this
// repository's packages.
func project(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repo, file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "go.mod" {
			text = bytes.Replace(text, []byte("module daawo\n"), []byte("module notes\n"), 1)
			text = fmt.Appendf(text, "\nrequire daawo v0.0.0\n\nreplace daawo => %s\n", repo)
		}
		write(t, filepath.Join(root, file), string(text))
	}
	write(t, filepath.Join(root, "functions", "functions.go"), registry(false))
	return root
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// helloSource returns the source of a function that prints a line and replies with the Go
// expression says.
func helloSource(says string) string {
	return `package hello

import (
	"fmt"
	"net/http"

	"daawo/supabase/edge"
)

var Func = edge.Func{NoVerifyJWT: true, Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	fmt.Println("hello was called")
	return edge.WriteJSON(w, http.StatusOK, ` + says + `)
}}
`
}

// hosting returns a host of these functions, without a database.
func hosting(t testing.TB, functions map[string]edge.Func) *host.Host {
	t.Helper()
	h, err := host.New(host.Options{Functions: functions, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

// locked is a writer for several goroutines.
type locked struct {
	*sync.Mutex
	io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Writer.Write(p)
}

// devServer serves the functions of a copy of the project, with reloading.
type devServer struct {
	t      *testing.T
	root   string
	dev    *Dev
	server *httptest.Server
	config atomic.Pointer[host.ChildConfig]
	keys   []byte // key set that verifies token
	token  string // service_role token

	mu  sync.Mutex
	log strings.Builder
}

func newDevServer(t *testing.T) *devServer {
	t.Helper()
	d := &devServer{t: t, root: project(t)}
	built := hosting(t, map[string]edge.Func{"hello": {NoVerifyJWT: true,
		Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			return edge.WriteJSON(w, http.StatusOK, "built in")
		}}})
	secret := keys.Secret("", "a secret that is long enough for it")
	var err error
	if d.keys, err = json.Marshal([]keys.Key{secret}); err != nil {
		t.Fatal(err)
	}
	if d.token, err = secret.Sign([]byte(`{"role":"service_role","exp":4102444800}`)); err != nil {
		t.Fatal(err)
	}
	d.config.Store(&host.ChildConfig{Database: "postgres://127.0.0.1:1/none", Keys: []byte(`[]`),
		EnvFile: filepath.Join(d.root, "functions/.env")})
	d.dev, err = NewDev(DevOptions{
		Root: d.root, Host: built,
		Log:   slog.New(slog.NewTextHandler(locked{&d.mu, &d.log}, &slog.HandlerOptions{ReplaceAttr: logattr.Seconds})),
		Child: func() (host.ChildConfig, error) { return *d.config.Load(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.server = httptest.NewServer(d.dev)
	t.Cleanup(d.server.Close)
	return d
}

func (d *devServer) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// write writes a file of the project.
func (d *devServer) write(file, text string) {
	d.t.Helper()
	write(d.t, filepath.Join(d.root, file), text)
}

// get calls a function and returns the status and the body, or 0 and the error.
func (d *devServer) get(name string) (int, string) {
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.server.URL+"/"+name, nil)
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	res, err := d.server.Client().Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, strings.TrimSpace(string(body))
}

// until calls a function until ok accepts the reply, and returns how long that took. what names the
// expected reply.
func (d *devServer) until(name, what string, ok func(int, string) bool) time.Duration {
	d.t.Helper()
	start := time.Now()
	for {
		code, body := d.get(name)
		if ok(code, body) {
			return time.Since(start)
		}
		if time.Since(start) > 5*time.Minute { // a compiler on a busy machine
			d.t.Fatalf("%s: still %d %s\n%s", what, code, body, d.logged())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// says accepts a reply with this text.
func says(text string) func(int, string) bool {
	return func(code int, body string) bool { return code == 200 && body == fmt.Sprintf("%q", text) }
}

// callContinuously calls hello twenty times a second, and fails the test if a call fails, until
// stop is called.
func (d *devServer) callContinuously() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			select {
			case <-end:
				d.t.Logf("%d calls during the reloads", n)
				return
			case <-time.After(50 * time.Millisecond):
				if code, body := d.get("hello"); code != http.StatusOK {
					d.t.Errorf("a call was dropped: %d %s", code, body)
				}
			}
		}
	}()
	return func() { close(end); <-ended }
}

// TestReloadDropsNoCall checks that new, changed and broken sources, variables and keys are loaded
// while calls go on, and that no call fails.
func TestReloadDropsNoCall(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the Go compiler")
	}
	d := newDevServer(t)
	if code, body := d.get("hello"); code != 200 || body != `"built in"` {
		t.Fatalf("before the first reload: %d %s", code, body)
	}
	stop := d.callContinuously()

	d.write("functions/hello/func.go", helloSource(`"one"`))
	d.write("functions/functions.go", registry(true))
	t.Logf("a new function, with an empty build cache, is served after %v",
		d.until("hello", "new function", says("one")))

	d.write("functions/hello/func.go", helloSource(`"two"`))
	t.Logf("an edit is served after %v", d.until("hello", "edit", says("two")))
	if !strings.Contains(d.logged(), `msg="hello was called"`) {
		t.Error("the log lacks the line that the function prints")
	}
	if !regexp.MustCompile(`function=hello execution_id=\S+ method=GET status=200 duration=[0-9.e-]+\n`).MatchString(d.logged()) {
		t.Error("calls are not logged in the format of the host")
	}

	// Ctrl-C sends SIGINT to every process of the terminal. The child must serve until the parent
	// has ended its calls.
	child := d.dev.acquire().(*Process)
	child.end()
	if err := child.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}

	d.write("functions/hello/func.go", helloSource(`"three" oops`))
	d.until("not-there-yet", "compiler error", func(code int, body string) bool {
		return code == http.StatusServiceUnavailable && strings.Contains(body, "BOOT_ERROR") &&
			strings.Contains(body, "func.go:12")
	})
	if code, body := d.get("hello"); !says("two")(code, body) {
		t.Errorf("after a syntax error: %d %s, want the old version", code, body)
	}
	if res, err := d.server.Client().Get(d.server.URL + "/hello"); err != nil ||
		!strings.Contains(res.Header.Get("X-Functions-Problem"), "func.go:12") {
		t.Errorf("the reply of the last version lacks the compiler error: %v", err)
	} else {
		_ = res.Body.Close()
	}
	if !strings.Contains(d.logged(), "func.go:12") {
		t.Error("the log lacks the compiler error")
	}

	d.write("functions/hello/func.go", helloSource(`env.Caller.Role+" "+env.Get("OWN")+env.Get("WORD")`))
	d.until("hello", "fixed source", says("anon "))
	d.write("functions/.env", "# words\nWORD='four # not a comment'\n")
	d.until("hello", "variable", says("anon four # not a comment"))
	changed := *d.config.Load()
	changed.Keys, changed.Env = d.keys, map[string]string{"OWN": "new "}
	d.config.Store(&changed)
	d.dev.Reconfigure()
	d.until("hello", "new keys", says("service_role new four # not a comment"))
	stop()
	if err := d.dev.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestDevOperation checks that only the granted functions of a reloaded process run operations of
// the stack.
func TestDevOperation(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the Go compiler")
	}
	d := newDevServer(t)
	config := *d.config.Load()
	stack, err := host.New(host.Options{Log: slog.New(slog.DiscardHandler), Operators: []string{"hello"},
		Operations: map[string]func(context.Context) (any, error){
			"version": func(context.Context) (any, error) { return "1.0", nil }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	parent := host.NewParentServer(stack)
	t.Cleanup(func() { _ = parent.Close(context.Background()) })
	if config.Parent, err = parent.Address(); err != nil {
		t.Fatal(err)
	}
	d.config.Store(&config)
	d.write("functions/hello/func.go", strings.Replace(helloSource("string(version)"),
		"\tfmt.Println(\"hello was called\")\n",
		"\tversion, err := env.Operate(r.Context(), \"version\")\n\tif err != nil {\n\t\treturn fmt.Errorf(\"operate: %w\", err)\n\t}\n", 1))
	d.write("functions/functions.go",
		strings.Replace(registry(true), `"hello": hello.Func`, `"hello": hello.Func, "other": hello.Func`, 1))
	d.until("hello", "operation", says(`"1.0"`+"\n"))
	if code, body := d.get("other"); code != http.StatusForbidden ||
		!strings.Contains(body, "Administration.Operators") {
		t.Errorf("without a grant: %d %s", code, body)
	}
	if err := d.dev.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

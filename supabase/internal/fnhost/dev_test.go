package fnhost

import (
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

	"daawo/functions/edge"
	"daawo/supabase/internal/keys"
)

// project copies what the functions are built from into a folder of the test's own.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"functions", "supabase/internal/fnhost", "supabase/internal/db", "supabase/internal/keys", "supabase/internal/outbox", "supabase/internal/mail"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(repo, dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repo, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, file), string(text))
	}
	return root
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// helloSource is a function that says a word, or a secret, and prints a line.
func helloSource(says string) string {
	return `package hello

import (
	"fmt"
	"net/http"

	"daawo/functions/edge"
)

var Func = edge.Func{NoVerifyJWT: true, Handler: func(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	fmt.Println("hello was called")
	return edge.WriteJSON(w, http.StatusOK, ` + says + `)
}}
`
}

func TestFunctionsReloadWithoutDroppingACall(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the Go compiler")
	}
	root := project(t)
	host := hosting(t, map[string]edge.Func{"hello": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
		return edge.WriteJSON(w, http.StatusOK, "built in")
	}}})
	var log strings.Builder
	var mu sync.Mutex
	secret := keys.Secret("", "a secret that is long enough for it")
	known, err := json.Marshal([]keys.Key{secret})
	if err != nil {
		t.Fatal(err)
	}
	token, err := secret.Sign([]byte(`{"role":"service_role","exp":4102444800}`))
	if err != nil {
		t.Fatal(err)
	}
	var config atomic.Pointer[ChildConfig]
	config.Store(&ChildConfig{Database: "postgres://127.0.0.1:1/none", Keys: []byte(`[]`), EnvFile: filepath.Join(root, "functions/.env")})
	dev, err := NewDev(DevOptions{
		Root: root, Host: host, Log: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil)),
		Child: func() (ChildConfig, error) { return *config.Load(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(dev)
	defer server.Close()
	get := func(name string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/"+name, nil)
		if err != nil {
			return 0, err.Error()
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := server.Client().Do(req)
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
	if code, body := get("hello"); code != 200 || body != `"built in"` {
		t.Fatalf("at first: %d %s", code, body)
	}

	// Twenty calls a second go on through everything below; each must be answered.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				t.Logf("%d calls went on meanwhile", n)
				return
			case <-time.After(50 * time.Millisecond):
				if code, body := get("hello"); code != http.StatusOK {
					t.Errorf("a call was dropped: %d %s", code, body)
				}
			}
		}
	}()
	until := func(name, what string, ok func(int, string) bool) time.Duration {
		t.Helper()
		start := time.Now()
		for {
			code, body := get(name)
			if ok(code, body) {
				return time.Since(start)
			}
			if time.Since(start) > 60*time.Second {
				mu.Lock()
				defer mu.Unlock()
				t.Fatalf("%s: still %d %s\n%s", what, code, body, log.String())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	says := func(text string) func(int, string) bool {
		return func(code int, body string) bool { return code == 200 && body == fmt.Sprintf("%q", text) }
	}

	registry, err := os.ReadFile(filepath.Join(root, "functions/functions.go"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(registry), `	"daawo/functions/edge"`, "\t\"daawo/functions/edge\"\n\t\"daawo/functions/hello\"", 1)
	text = strings.Replace(text, "edge.Func{\n", "edge.Func{\n\t\"hello\": hello.Func,\n", 1)
	write(t, filepath.Join(root, "functions/hello/func.go"), helloSource(`"one"`))
	write(t, filepath.Join(root, "functions/functions.go"), text)
	t.Logf("a new function, with an empty build cache, is served after %v", until("hello", "the new function", says("one")))

	write(t, filepath.Join(root, "functions/hello/func.go"), helloSource(`"two"`))
	took := until("hello", "an edit", says("two"))
	t.Logf("an edit is served after %v", took)
	if took > 10*time.Second {
		t.Errorf("an edit took %v", took)
	}
	mu.Lock()
	if !strings.Contains(log.String(), `msg="hello was called"`) {
		t.Error("what a function prints is not shown")
	}
	if !regexp.MustCompile(`function=hello execution_id=\S+ method=GET status=200 duration=\S+s\n`).MatchString(log.String()) {
		t.Error("a call is not logged as the program itself does")
	}
	mu.Unlock()

	// Ctrl-C goes to every process of the terminal; the child serves on until the program has ended its calls.
	child := dev.take().(*process)
	child.end()
	if err := child.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(root, "functions/hello/func.go"), helloSource(`"three" oops`))
	until("not-there-yet", "the compiler's words", func(code int, body string) bool {
		return code == http.StatusServiceUnavailable && strings.Contains(body, "BOOT_ERROR") && strings.Contains(body, "func.go:12")
	})
	if code, body := get("hello"); !says("two")(code, body) {
		t.Errorf("a syntax error: %d %s, want the old version", code, body)
	}
	mu.Lock()
	if !strings.Contains(log.String(), "func.go:12") {
		t.Error("the terminal does not show the error")
	}
	mu.Unlock()

	write(t, filepath.Join(root, "functions/hello/func.go"), helloSource(`env.Caller.Role+" "+env.Get("OWN")+env.Get("WORD")`))
	until("hello", "the cure", says("anon "))
	write(t, filepath.Join(root, "functions/.env"), "# words\nWORD='four # not a comment'\n")
	until("hello", "a secret", says("anon four # not a comment"))
	changed := *config.Load()
	changed.Keys, changed.Env = known, map[string]string{"OWN": "new "}
	config.Store(&changed)
	dev.Reconfigure()
	until("hello", "new keys", says("service_role new four # not a comment"))
	close(stop)
	<-stopped
	if err := dev.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEnvFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), ".env")
	write(t, file, "A=1\n export B = \"two\\nlines \\\"x\\\"\"\n#C=3\nD=a b # comment\nE=\nF='$x'\n")
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
		write(t, file, "\n"+bad+"\n")
		if _, err := ReadEnvFile(file); err == nil || !strings.Contains(err.Error(), ":2:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if v, err := ReadEnvFile(file + "none"); v != nil || err != nil {
		t.Errorf("a missing file: %v %v", v, err)
	}
	find := Lookup(map[string]string{"A": "own"}, map[string]string{"A": "file", "B": "file"}, func(n string) (string, bool) { return strings.TrimLeft(n, "D"), n != "D" })
	if s := find("A") + find("B") + find("process") + find("D"); s != "ownfileprocess" {
		t.Error(s)
	}
}

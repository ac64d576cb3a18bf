package deploy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/deno"
	"daawo/supabase/internal/functions/host"
)

// deployServer serves functions that can be deployed.
type deployServer struct {
	*Deployer
	t       *testing.T
	dir     string
	server  *httptest.Server
	waiting map[string]int // jobs
	changed int            // calls of Changed
	memory  int64
	parent  string // socket of the parent
	child   func(*host.ChildConfig)

	scripts  *scripts // nil without functions in TypeScript
	versions string   // folder of their unpacked versions
	service  *deno.Service

	mu  sync.Mutex
	log strings.Builder
}

func newDeployServer(t *testing.T) *deployServer {
	t.Helper()
	d := &deployServer{t: t, dir: t.TempDir(), memory: 256 << 20}
	d.begin()
	return d
}

// begin starts the server.
func (d *deployServer) begin() {
	d.t.Helper()
	d.open()
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.service != nil {
			d.service.Next(d.Deployer).ServeHTTP(w, r)
			return
		}
		d.Deployer.ServeHTTP(w, r)
	}))
	d.t.Cleanup(func() {
		d.server.Close()
		err := d.Close(context.Background())
		if d.service != nil {
			err = errors.Join(err, d.service.Close(context.Background()))
		}
		if err != nil {
			d.t.Error(err)
		}
	})
}

// open makes the Deployer on the folder, as a start of the stack does.
func (d *deployServer) open() {
	d.t.Helper()
	inGo := map[string]edge.Func{"hello": {NoVerifyJWT: true,
		Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
			return edge.WriteJSON(w, http.StatusOK, "built in")
		}}}
	if d.scripts != nil {
		inGo, d.service = nil, d.scripts.service(d.versions)
	}
	built := hosting(d.t, inGo)
	var err error
	d.Deployer, err = New(d.t.Context(), Options{
		Dir: d.dir, Host: built, Base: built, Built: func() []host.FunctionInfo { return built.Describe().Functions }, Memory: d.memory,
		Log: slog.New(slog.NewTextHandler(locked{&d.mu, &d.log}, nil)),
		Child: func() (host.ChildConfig, error) {
			c := host.ChildConfig{Database: "postgres://127.0.0.1:1/none", Keys: []byte(`[]`), Parent: d.parent}
			if d.child != nil {
				d.child(&c)
			}
			return c, nil
		},
		Waiting:    func(context.Context) (map[string]int, error) { return d.waiting, nil },
		Changed:    func(context.Context) error { d.changed++; return nil },
		TypeScript: d.service,
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *deployServer) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

func (d *deployServer) get(path string) string {
	res, err := d.server.Client().Get(d.server.URL + path)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(body)))
}

// is checks which version replies.
func (d *deployServer) is(want string) {
	d.t.Helper()
	if got := d.get("/hello"); got != fmt.Sprintf("200 %q", want) {
		d.t.Errorf("got %s, want %q", got, want)
	}
}

func (d *deployServer) deploy(mode string) Version {
	d.t.Helper()
	v, err := d.Deploy(d.t.Context(), bytes.NewReader(bundle(d.t, mode)), mode, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// limitsBodies checks that the gateway can ask for the largest body of a deployed function.
func (d *deployServer) limitsBodies() {
	if limit := d.MaxBody("/hello/x"); limit == 0 || d.MaxBody("/other") != 0 {
		d.t.Errorf("the largest body of hello: %d", limit)
	}
}

// TestDeploy deploys, rolls back, restarts, and keeps the last five versions.
func TestDeploy(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	d.is("built in")
	if _, err := d.Rollback(t.Context(), "", false); err == nil {
		t.Error("a rollback without an earlier version")
	}
	first := d.deploy("one")
	d.is("one")
	if len(first.Functions) != 4 || len(first.SHA256) != 64 || d.Schedules()["nightly"] != "0 3 * * *" ||
		d.changed != 1 {
		t.Errorf("%+v, schedules %v, changed %d times", first, d.Schedules(), d.changed)
	}
	d.limitsBodies()
	d.deploy("hourly")
	d.is("hourly")
	if d.Schedules()["nightly"] != "0 * * * *" {
		t.Errorf("schedules: %v", d.Schedules())
	}
	if v, err := d.Rollback(t.Context(), "", false); err != nil || v.ID != first.ID {
		t.Errorf("rollback: %+v %v", v, err)
	}
	d.is("one")
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	d.open() // the stack restarts
	d.is("one")
	for n := range 5 {
		d.deploy(fmt.Sprint("v", n))
	}
	d.is("v4")
	var messages []string
	for _, v := range d.store.list() {
		messages = append(messages, v.Message)
	}
	if got := strings.Join(messages, " "); got != "v4 v3 v2 v1 v0" {
		t.Errorf("versions: %s", got)
	}
	if files, err := filepath.Glob(filepath.Join(d.dir, "bundle-*")); err != nil || len(files) != keepVersions {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := d.Rollback(t.Context(), first.ID, false); err == nil {
		t.Error("a deleted version is accepted")
	}
	if _, err := d.Rollback(t.Context(), BuiltIn, false); err != nil {
		t.Error(err)
	}
	d.is("built in")
	if stats := d.Host.Stats(); len(stats) != 1 || stats[0].Function != "hello" || stats[0].Calls == 0 {
		t.Errorf("stats: %+v", stats)
	}
}

// TestDeployRefuses checks that bundles that cannot take over are refused and that the version
// before goes on.
func TestDeployRefuses(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	d.deploy("good")
	for _, c := range []struct{ mode, says string }{
		{"panic", "cannot start"},
		{"exit", "exited"},
		{"loop", "does not serve"},
		{"sick", "no connection to the bank"},
		{"stuck", "health"},
		{"leak", ""}, // its memory grows, or the limit ends it first
	} {
		if _, err := d.Deploy(t.Context(), bytes.NewReader(bundle(t, c.mode)), "", false); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.mode, err, c.says)
		}
		d.is("good")
	}
	if _, err := d.Deploy(t.Context(), strings.NewReader("#!/bin/false\n"), "", false); err == nil {
		t.Error("a text is accepted")
	}
	if _, err := d.Deploy(t.Context(), strings.NewReader(""), "", false); err == nil {
		t.Error("an empty bundle is accepted")
	}
	d.waiting = map[string]int{"hello/note": 2}
	if _, err := d.Deploy(t.Context(), bytes.NewReader(bundle(t, "jobless")), "", false); err == nil ||
		!strings.Contains(err.Error(), "hello/note (2)") {
		t.Errorf("without a job that waits: %v", err)
	}
	if _, err := d.Rollback(t.Context(), BuiltIn, false); err == nil {
		t.Error("rolled back to a version without a job that waits")
	}
	if _, err := d.Deploy(t.Context(), bytes.NewReader(bundle(t, "jobless")), "", true); err != nil {
		t.Errorf("with --force: %v", err)
	}
	if files, err := filepath.Glob(filepath.Join(d.dir, "bundle-*")); err != nil || len(files) != 2 {
		t.Errorf("refused bundles are kept: %v %v", files, err)
	}
}

// TestDeployedOperation checks that only the granted functions of a bundle run operations of the
// stack.
func TestDeployedOperation(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	operations := map[string]func(context.Context) (any, error){
		"version": func(context.Context) (any, error) { return map[string]string{"name": "1.0"}, nil },
	}
	parent := host.NewParentServer(hosting(t, nil, func(o *host.Options) {
		o.Operations, o.Operators = operations, []string{"hello"}
	}))
	var err error
	if d.parent, err = parent.Address(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = parent.Close(context.Background()) })
	d.deploy("good")
	if got := d.get("/hello/version"); got != `200 {"name":"1.0"}` {
		t.Error(got)
	}
	if got := d.get("/note/version"); !strings.HasPrefix(got, "403 ") ||
		!strings.Contains(got, "Administration.Operators") {
		t.Error(got)
	}
}

// TestDeployedCrash checks that a process that ends or needs too much memory is started again, and
// that calls wait for it.
func TestDeployedCrash(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	d.deploy("good")
	for _, path := range []string{"/hello/exit", "/hello/memory"} {
		before := d.peek().server.(*deployed).running()
		if got := d.get(path); strings.HasPrefix(got, "200") && path == "/hello/exit" {
			t.Errorf("%s: %s", path, got)
		}
		<-before.Exited()
		d.is("good")
	}
	d.server.Close() // waits for the calls' lines
	d.mu.Lock()
	defer d.mu.Unlock()
	if calls := strings.Count(d.log.String(), `msg="function call" version=1 function=hello`); calls != 4 {
		t.Errorf("%d of 4 calls are logged:\n%s", calls, d.log.String())
	}
	if runtime.GOOS == "linux" && !strings.Contains(d.log.String(), "exceeds its memory limit") {
		t.Errorf("the log lacks the memory limit:\n%s", d.log.String())
	}
}

// TestDeployUnderLoad deploys and rolls back while calls, streams and jobs are in flight. None may
// fail.
func TestDeployUnderLoad(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	d.deploy("start")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	repeat := func(n int, do func() string) {
		for range n {
			load.Go(func() {
				for ctx.Err() == nil {
					if failure := do(); failure != "" {
						t.Error(failure)
						return
					}
				}
			})
		}
	}
	repeat(4, func() string {
		time.Sleep(5 * time.Millisecond)
		if got := d.get("/hello"); !strings.HasPrefix(got, "200 ") {
			return "a call was dropped: " + got
		}
		return ""
	})
	repeat(2, func() string {
		if got := d.get("/stream"); !strings.HasPrefix(got, "200 ") || !strings.HasSuffix(got, "end") {
			return "a stream was cut: " + got
		}
		return ""
	})
	repeat(2, func() string {
		if err := d.RunJob(context.Background(), "hello", "note", []byte(`{}`)); err != nil {
			return "a job was cut: " + err.Error()
		}
		return ""
	})
	for n := range 4 {
		d.deploy(fmt.Sprint("v", n))
		d.is(fmt.Sprint("v", n))
		if n%2 == 1 {
			if _, err := d.Rollback(t.Context(), "", false); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	load.Wait()
}

// TestDeployToken checks that another machine can deploy with a valid token only, and nothing else.
func TestDeployToken(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	ask := func(method, path, token string, body io.Reader) string {
		r := httptest.NewRequest(method, path, body)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	if got := ask("GET", "/_deploy/", "", nil); !strings.HasPrefix(got, "404") {
		t.Errorf("without a token: %s", got)
	}
	token, expires, err := d.NewToken(time.Hour)
	if err != nil || time.Until(expires) < 59*time.Minute {
		t.Fatal(expires, err)
	}
	if text, err := os.ReadFile(filepath.Join(d.dir, tokenName)); err != nil || strings.Contains(string(text), token) {
		t.Errorf("the file holds the token itself: %s %v", text, err)
	}
	for _, bad := range []string{"", "x", token + "x", strings.ToLower(token)} {
		if got := ask("GET", "/_deploy/", bad, nil); !strings.HasPrefix(got, "404") {
			t.Errorf("token %q: %s", bad, got)
		}
	}
	if got := ask("GET", "/_deploy/", token, nil); !strings.Contains(got, runtime.GOARCH) {
		t.Errorf("state: %s", got)
	}
	if got := ask("POST", "/_deploy/?message=x", token, bytes.NewReader(bundle(t, "remote"))); !strings.HasPrefix(got,
		"200") {
		t.Errorf("deploy: %s", got)
	}
	d.is("remote")
	if got := ask("POST", "/_deploy/rollback?to=built-in", token, nil); !strings.HasPrefix(got, "200") {
		t.Errorf("rollback: %s", got)
	}
	if got := ask("POST", "/_deploy/token", token, nil); !strings.HasPrefix(got, "404") &&
		!strings.HasPrefix(got, "405") {
		t.Errorf("another path: %s", got)
	}
	if _, _, err := d.NewToken(-time.Second); err != nil {
		t.Fatal(err)
	}
	if got := ask("GET", "/_deploy/", token, nil); !strings.HasPrefix(got, "404") {
		t.Errorf("a replaced token: %s", got)
	}
	if err := d.RevokeToken(); err != nil {
		t.Error(err)
	}
}

// TestCallAfterEnd checks that no call goes to a process that has ended, even before watch has
// noticed the end.
func TestCallAfterEnd(t *testing.T) {
	t.Parallel()
	d := newDeployServer(t)
	d.deploy("good")
	v := d.peek().server.(*deployed)
	ended := v.running()
	d.get("/hello/exit")
	<-ended.Exited()
	started := make(chan struct{})
	close(started)
	b := &deployed{process: ended, ready: started}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := b.await(ctx); p != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("await returned %v, %v", p, err)
	}
}

package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/host"
)

// TestRelayKeepsAttributeOrder checks that log lines of the child have the format of the host's, in
// which `daawo functions logs NAME` finds the function's name.
func TestRelayKeepsAttributeOrder(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"2026-08-31T12:00:00Z","level":"WARN","msg":"function call","function":"hello","execution_id":"1","status":503,"duration":0.012,"bytes":12345678}`: `level=WARN msg="function call" function=hello execution_id=1 status=503 duration=0.012 bytes=12345678`,
		// of a function's own logger
		`{"level":"INFO","msg":"x","duration":"12ms"}`:  `level=INFO msg=x duration=0.012`,
		`{"level":"INFO","msg":"x","function":"hello"}`: `level=INFO msg=x function=hello`,
		`printed`:     `level=INFO msg=printed`,
		`{"a":1}`:     `level=INFO msg="{\"a\":1}"`,
		`{"msg":"x`:   `level=INFO msg="{\"msg\":\"x"`,
		`["printed"]`: `level=INFO msg="[\"printed\"]"`,
	} {
		for range 10 {
			j := host.NewJournal(slog.DiscardHandler)
			relay(slog.New(j), []byte(line))
			if all := j.Lines(); len(all) != 1 || !strings.HasSuffix(all[0].Text, want) {
				t.Errorf("%s is logged as %v, want %s", line, all, want)
				break
			}
		}
	}
}

// TestProxyToChildKeepsHeaders checks that a function in the child gets the same host and headers
// as one in the host.
func TestProxyToChildKeepsHeaders(t *testing.T) {
	in := httptest.NewRequest(http.MethodGet, "https://site.example/hello", nil)
	for _, name := range []string{"For", "Host", "Proto", "Port", "Prefix"} {
		in.Header.Set("X-Forwarded-"+name, "the "+name)
	}
	var out *http.Request
	proxy := httputil.ReverseProxy{Rewrite: toChild,
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			out = r
			return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
		})}
	proxy.ServeHTTP(httptest.NewRecorder(), in)
	for name := range in.Header {
		if got := out.Header.Get(name); got != in.Header.Get(name) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if out.Host != in.Host {
		t.Error("Host:", out.Host)
	}
}

// TestPartsFromChild checks that the client gets the parts of a body when the function sends them,
// also of one with a length, and that a short reply is not flushed.
func TestPartsFromChild(t *testing.T) {
	more := make(chan struct{})
	child, _ := httpOnSocket(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short" {
			_, _ = io.WriteString(w, "short")
			return
		}
		if r.URL.Path == "/long" {
			w.Header().Set("Content-Length", "10")
		}
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "again")
	})
	proxy := &httputil.ReverseProxy{Transport: child, Rewrite: toChild, ModifyResponse: fromChild}
	server := httptest.NewServer(proxy)
	defer server.Close()
	for _, path := range []string{"/stream", "/long"} {
		res, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		part := make([]byte, 5)
		if _, err := io.ReadFull(res.Body, part); err != nil || string(part) != "first" {
			t.Errorf("%s: the first part is %q: %v", path, part, err)
		}
		more <- struct{}{}
		if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "again" {
			t.Errorf("%s: the rest is %q: %v", path, rest, err)
		}
		res.Body.Close()
	}
	w := httptest.NewRecorder()
	if proxy.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/short", nil)); w.Body.String() != "short" || w.Flushed {
		t.Errorf("short: %q, flushed: %t", w.Body, w.Flushed)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSnoozeInChild checks that a snooze of a job in a child process reaches the parent, in whole
// seconds, and that other errors do.
func TestSnoozeInChild(t *testing.T) {
	h := hosting(t, map[string]edge.Func{"f": {Jobs: map[string]edge.Job{"j": {Run: func(_ context.Context, _ *edge.Env,
		args []byte) error {
		if string(args) == `"snooze"` {
			return fmt.Errorf("busy: %w", edge.Snooze(1500*time.Millisecond))
		}
		return errors.New("it fails")
	}}}}})
	transport, _ := httpOnSocket(t, h.ChildHandler().ServeHTTP)
	p := &Process{client: &http.Client{Transport: transport}}
	var snooze edge.SnoozeError
	if err := p.RunJob(t.Context(), "f", "j", []byte(`"snooze"`)); !errors.As(err, &snooze) ||
		snooze.After != 2*time.Second {
		t.Errorf("a snooze: %v", err)
	}
	if err := p.RunJob(t.Context(), "f", "j", nil); err == nil || err.Error() != "it fails" {
		t.Errorf("a failure: %v", err)
	}
}

// TestHelperProgramEndsWithProcess checks that a program that the functions have started, and that
// holds their output open, neither delays the end of the process nor survives it. On Linux it may
// have left the process group.
func TestHelperProgramEndsWithProcess(t *testing.T) {
	helpers := []string{"sh"}
	if runtime.GOOS == "linux" {
		helpers = append(helpers, "setsid sh")
	}
	for _, helper := range helpers {
		t.Run(helper, func(t *testing.T) { testHelperProgram(t, helper) })
	}
}

func testHelperProgram(t *testing.T, command string) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := "#!/bin/sh\n" + command + " -c 'echo $$ > pid; echo helper $$ >&2; exec sleep 60' &\n" +
		"while ! [ -s pid ]; do sleep 0.01; done\necho broken >&2\nexit 1\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_, err := Start(t.Context(), StartOptions{Program: program, Socket: filepath.Join(dir, "s"), Keep: true,
		Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Fatalf("started: %v", err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("the end took %s", took)
	}
	var helper int
	_, text, _ := strings.Cut(err.Error(), "helper ")
	if _, err := fmt.Sscan(text, &helper); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); syscall.Kill(helper, 0) == nil; time.Sleep(10 * time.Millisecond) {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", helper))
		if strings.Contains(string(stat), ") Z ") { // ended; its parent has not asked
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the helper program %d still runs", helper)
		}
	}
}

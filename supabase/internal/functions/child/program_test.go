package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/functions/host"
)

// program returns a server of a project with the function hello, whose program is built while the
// server runs. Its replies say what says returns.
func program(t *testing.T, says string, o ProgramOptions) (*devServer, error) {
	t.Helper()
	d := &devServer{t: t, root: project(t)}
	d.write("functions/hello/func.go", helloSource(says))
	d.write("functions/functions.go", registry(true))
	d.config.Store(&host.ChildConfig{Database: "postgres://127.0.0.1:1/none", Keys: []byte(`[]`)})
	o.Root, o.Host, o.Keep = d.root, hosting(t, nil), filepath.Join(t.TempDir(), "kept")
	o.Log = slog.New(slog.NewTextHandler(locked{&d.mu, &d.log}, nil))
	o.Child = func() (host.ChildConfig, error) { return *d.config.Load(), nil }
	var err error
	if d.dev, err = NewProgram(t.Context(), o); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := d.dev.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d.server = httptest.NewServer(d.dev)
	t.Cleanup(d.server.Close)
	return d, nil
}

// TestProgramServesWhenBuilt checks the replies, the jobs and the state before, during and after a
// build, and after one that failed. Go is replaced by a script that waits for a file.
func TestProgramServesWhenBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the Go compiler")
	}
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nuntil [ -e '%s/gate' ]; do sleep 0.02; done\nexec '%s' \"$@\"\n", bin, compiler)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))

	var rescheduled atomic.Int64
	d, err := program(t, `"one" oops`, ProgramOptions{Watch: true, DevOptions: DevOptions{
		Changed: func(context.Context) error { rescheduled.Add(1); return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := d.server.Client().Get(d.server.URL + "/hello")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if code, body := d.get("hello"); code != 503 || res.Header.Get("Retry-After") != "5" ||
		!strings.Contains(body, `"BUILDING"`) {
		t.Errorf("while it is built: %d %s %v", code, body, res.Header)
	}
	for _, err := range []error{d.dev.RunJob(t.Context(), "hello", "remind", nil), d.dev.RunSchedule(t.Context(),
		"hello")} {
		if _, later := errors.AsType[edge.SnoozeError](err); !later {
			t.Errorf("a job while it is built: %v", err)
		}
	}
	if err := d.dev.Ready(); !errors.Is(err, ErrBuilding) {
		t.Errorf("ready while it is built: %v", err)
	}

	write(t, filepath.Join(bin, "gate"), "")
	d.until("hello", "compiler error", func(code int, body string) bool {
		return code == 503 && strings.Contains(body, "BOOT_ERROR") && strings.Contains(body, "func.go:12")
	})
	if err := d.dev.Ready(); err == nil || !strings.Contains(err.Error(), "func.go:12") {
		t.Errorf("ready after a failed build: %v", err)
	}
	if !strings.Contains(d.logged(), "calls of functions get 503: functions do not compile") {
		t.Errorf("the log lacks the compiler error: %s", d.logged())
	}

	d.write("functions/hello/func.go", helloSource(`"two"`))
	d.until("hello", "fixed source", says("two"))
	if err := d.dev.Ready(); err != nil || rescheduled.Load() == 0 {
		t.Errorf("ready: %v; %d changes of schedules", err, rescheduled.Load())
	}
	v := d.dev.acquire().(*Process)
	v.end()
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-v.Exited()
	d.until("hello", "a restart", says("two"))
}

// gatedSource is helloSource with a connection to an address, on which its process waits for a byte
// before it serves.
func gatedSource(says, address string) string {
	source := strings.Replace(helloSource(says), `"fmt"`, "\"fmt\"\n\t\"net\"", 1)
	return source + fmt.Sprintf(`
var gate = func() net.Conn {
	c, err := net.Dial("tcp", %q)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	if err != nil {
		panic(err)
	}
	return c
}()
`, address)
}

// TestRestartKeepsNewerVersion checks that a version which is built while the process of the last
// one restarts stays, and that the restarted process ends.
func TestRestartKeepsNewerVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the Go compiler")
	}
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	accept := func() net.Conn {
		t.Helper()
		if err := gate.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		conn, err := gate.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	open := func(conn net.Conn) {
		t.Helper()
		if _, err := conn.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := program(t, `"one"`, ProgramOptions{Watch: true, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	d.write("functions/hello/func.go", gatedSource(`"two"`, gate.Addr().String()))
	first := accept()
	defer first.Close()
	open(first)
	d.until("hello", "an edit", says("two"))
	v := d.dev.acquire().(*Process)
	v.end()
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	restarted := accept()
	defer restarted.Close()
	d.write("functions/hello/func.go", helloSource(`"three"`))
	d.until("hello", "an edit during a restart", says("three"))
	open(restarted)
	if err := restarted.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := restarted.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the process of the older version does not end")
	}
	if code, body := d.get("hello"); !says("three")(code, body) {
		t.Errorf("after the restart: %d %s, want the newer version", code, body)
	}
}

// TestProgramWithoutGo checks that other machines do not see why functions are not built, and that
// with Wait the reason is an error.
func TestProgramWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const reason = "functions/ holds functions in Go, which need Go to be built"
	for _, public := range []bool{false, true} {
		d, err := program(t, `"one"`, ProgramOptions{DevOptions: DevOptions{Public: public}})
		if err != nil {
			t.Fatal(err)
		}
		d.until("hello", "the failure", func(code int, body string) bool {
			return code == http.StatusServiceUnavailable && strings.Contains(body, `"BOOT_ERROR"`) &&
				strings.Contains(body, reason) == !public
		})
		if functions, builtIn := d.dev.Functions(); len(functions) != 0 || builtIn {
			t.Errorf("functions: %v, of the program: %v", functions, builtIn)
		}
	}
	if _, err := program(t, `"one"`, ProgramOptions{Wait: true}); err == nil || !strings.Contains(err.Error(), reason) {
		t.Errorf("with Wait: %v", err)
	}
}

package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app/datadir"
)

// TestControlClose checks that close waits for the reply to a running command and that no command
// succeeds after it.
func TestControlClose(t *testing.T) {
	data := t.TempDir()
	asked := make(chan struct{})
	c, err := Start(data, map[string]func(context.Context) (any, error){
		"/slow": func(context.Context) (any, error) {
			close(asked)
			time.Sleep(50 * time.Millisecond) // the server closes during this time
			return "done", nil
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() {
		<-asked
		closed <- c.Close(context.Background())
	}()
	var reply string
	if err := Command(t.Context(), data, "/slow", &reply); err != nil || reply != "done" {
		t.Errorf("%q, %v", reply, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := Command(t.Context(), data, "/slow", &reply); !errors.Is(err, datadir.ErrNotRunning) {
		t.Errorf("after close: %v", err)
	}
}

// TestControlFolder checks the folder of the control socket: $XDG_RUNTIME_DIR, or the temporary
// folder if that path is too long. A service often has a private /tmp, where the commands of its
// operator cannot find a socket.
func TestControlFolder(t *testing.T) {
	data, run, private := t.TempDir(), shortFolder(t), shortFolder(t)
	t.Setenv("XDG_RUNTIME_DIR", run)
	t.Setenv("TMPDIR", private)
	pong := map[string]func(context.Context) (any,
		error){"/ping": func(context.Context) (any, error) { return "pong", nil }}
	ping := func(want string) {
		t.Helper()
		c, err := Start(data, pong, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.dir.Path, want+"/") {
			t.Errorf("the socket is in %s, not below %s", c.dir.Path, want)
		}
		var reply string
		if err := Command(t.Context(), data, "/ping", &reply); err != nil || reply != "pong" {
			t.Errorf("%q, %v", reply, err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(want + "/daawo-*"); len(left) > 0 {
			t.Errorf("%s is left", left)
		}
	}
	ping(run)
	long := filepath.Join(run, strings.Repeat("x", maxPath))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", long)
	ping(private)
	if left, _ := filepath.Glob(long + "/*"); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
	t.Setenv("XDG_RUNTIME_DIR", "/nonexistent")
	ping(private)
}

// shortFolder returns a folder with a short path. A path below t.TempDir may be too long for a
// socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "control-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestControlUnreachable checks that a server which holds the lock of the data folder is not
// reported as stopped.
func TestControlUnreachable(t *testing.T) {
	data := t.TempDir()
	lock, err := datadir.Lock(data)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(says string) {
		t.Helper()
		err := Command(t.Context(), data, "/ping", new(string))
		if err == nil || errors.Is(err, datadir.ErrNotRunning) != (says == datadir.ErrNotRunning.Error()) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	ask("takes no commands") // it is starting
	c, err := Start(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(c.dir.Path); err != nil {
		t.Fatal(err)
	}
	ask("its control socket " + c.dir.Path + "/control cannot be reached")
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	ask(datadir.ErrNotRunning.Error())
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

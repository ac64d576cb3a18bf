package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// role is the variable that turns this test program into a server of the tests.
const role = "HANDOVER_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		if err := play(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// play is a server that replies with its process id, and upgrades once if the keeper's facts say
// so.
func play(name string) error {
	if name == "systemd" {
		return playSystemd()
	}
	if name == "quits" {
		return errors.New("before the welcome")
	}
	var told struct{ Upgrade bool }
	k, err := FromKeeper(&told)
	if err != nil {
		return err
	}
	defer k.Close()
	switch name {
	case "fails":
		k.Failed(errors.New("a migration failed"))
		return nil
	case "exits":
		return errors.New("no word")
	case "hangs":
		<-k.Gone()
		return nil
	}
	l, err := k.Sockets.Listen("api", "127.0.0.1", 0, false)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, os.Getpid())
	})}
	go s.Serve(l) //nolint:errcheck // it ends with the process
	if err := k.Ready(k.Sockets, os.Getpid()); err != nil {
		return err
	}
	if told.Upgrade {
		var next int
		if err := k.Upgrade(context.Background(), &next); err != nil || next == os.Getpid() {
			return fmt.Errorf("upgrade: %d %w", next, err)
		}
	}
	select {
	case <-k.Stopped():
	case <-k.Replaced():
	case <-k.Gone():
		return ErrEnded
	}
	return s.Shutdown(context.Background())
}

// self returns this test program as a server.
func self(t *testing.T, name string) Program {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(role, name)
	return Program{Path: program, Args: []string{"-test.run=^$"}}
}

// listening returns the sockets of a running server: one, and a lock.
func listening(t *testing.T) (*Files, string) {
	t.Helper()
	sockets := NewSockets()
	l, err := sockets.Listen("api", "127.0.0.1", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := sockets.Files()
	if err == nil {
		err = files.AddLock(lock)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(files.Close)
	if err := errors.Join(l.Close(), lock.Close()); err != nil { // the duplicates keep the socket open
		t.Fatal(err)
	}
	return files, l.Addr().String()
}

// served returns which process serves an address.
func served(t *testing.T, address string) int {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestServersTakeOver checks that a socket passes from process to process, that connections made in
// between are served, and that a server may ask for the next one.
func TestServersTakeOver(t *testing.T) {
	program := self(t, "serves")
	files, address := listening(t)
	waiting, err := net.Dial("tcp", address) // in the queue of the socket: no process accepts
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	first, err := Start(t.Context(), program, map[string]bool{"upgrade": true}, files)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.About) != strconv.Itoa(first.PID()) {
		t.Errorf("it says %s about itself", first.About)
	}
	fmt.Fprintf(waiting, "GET / HTTP/1.0\r\n\r\n")
	if reply, err := io.ReadAll(waiting); err != nil || !strings.HasSuffix(string(reply), strconv.Itoa(first.PID())) {
		t.Errorf("the connection that waited got %q %v", reply, err)
	}
	<-first.Asked()
	passed, err := first.Files()
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	second, err := Start(t.Context(), program, map[string]bool{}, passed)
	if err != nil {
		t.Fatal(err)
	}
	first.Answer(second.About, nil)
	first.Replace()
	if err := first.Await(10 * time.Second); err != nil {
		t.Error("the replaced server:", err)
	}
	first.Close()
	if pid := served(t, address); pid != second.PID() {
		t.Errorf("process %d serves, not %d", pid, second.PID())
	}
	second.Stop()
	if err := second.Await(10 * time.Second); err != nil {
		t.Error("the stopped server:", err)
	}
	second.Close()
	files.Close()
	passed.Close()
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the socket is still open")
	}
}

// TestServerDoesNotStart checks the reasons of servers that do not become ready.
func TestServerDoesNotStart(t *testing.T) {
	files, _ := listening(t)
	for name, want := range map[string]string{"fails": "a migration failed", "exits": "exit status 1"} {
		if _, err := Start(t.Context(), self(t, name), struct{}{}, files); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// than the buffers of the link hold, so that the send ends with the process
	more := strings.Repeat("x", maxMessage/2)
	if _, err := Start(t.Context(), self(t, "quits"), more, files); !errors.Is(err, errEnded) ||
		!strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("quits: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, self(t, "hangs"), struct{}{}, files); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hangs: %v", err)
	}
	if _, err := Start(t.Context(), Program{Path: "/dev/null"}, struct{}{}, files); err == nil {
		t.Error("no program was started")
	}
}

// TestKeeperEnds checks that a server learns of the end of its keeper, and that Upgrade then fails.
func TestKeeperEnds(t *testing.T) {
	files, _ := listening(t)
	result := make(chan error, 2)
	s, err := StartWithin(t.Context(), struct{}{}, files, func(connect Connect) error {
		k, err := connect(&struct{}{})
		if err != nil {
			return err
		}
		if err := k.Ready(k.Sockets, nil); err != nil {
			return err
		}
		result <- k.Upgrade(context.Background(), new(int))
		<-k.Gone()
		k.Sockets.CloseUnused()
		return k.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Asked()
	s.Kill()
	if err := <-result; !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	<-s.Exited()
	s.Close()
}

// TestListen checks which sockets of a process before are used.
func TestListen(t *testing.T) {
	other := func(name string) *Sockets {
		s, from := NewSockets(), NewSockets()
		l, err := from.Listen("api", "127.0.0.1", 0, false)
		if err != nil {
			t.Fatal(err)
		}
		files, err := from.Files()
		if err == nil {
			err = s.give(name, files.fds[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		t.Cleanup(func() { s.CloseUnused() })
		return s
	}
	for what, tt := range map[string]struct {
		given, name, host string
		port, any, used   bool
	}{
		"the same":            {"api", "api", "127.0.0.1", true, false, true},
		"any port":            {"api", "api", "127.0.0.1", false, false, true},
		"another name":        {"api", "studio", "127.0.0.1", false, false, false},
		"another host":        {"api", "api", "127.0.0.2", false, false, false},
		"systemd by port":     {"", "api", "0.0.0.0", true, false, true},
		"systemd, other port": {"", "api", "127.0.0.1", false, true, false},
	} {
		s := other(tt.given)
		at := s.given[0].listener.Addr().(*net.TCPAddr)
		port := 0
		if tt.port {
			port = at.Port
		}
		l, err := s.Listen(tt.name, tt.host, uint16(port), tt.any)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if used := l.Addr().(*net.TCPAddr).Port == at.Port; used != tt.used {
			t.Errorf("%s: used is %t", what, used)
		}
		if unused := s.CloseUnused(); len(unused) == 0 != tt.used {
			t.Errorf("%s: unused are %v", what, unused)
		}
		_ = l.Close()
	}
}

// playSystemd takes the sockets of systemd and prints their addresses.
func playSystemd() error {
	// systemd knows it before it starts the program
	if err := os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	s, err := FromSystemd()
	if err != nil {
		return err
	}
	if _, set := os.LookupEnv("LISTEN_FDS"); set {
		return errors.New("a child would take the sockets for its own")
	}
	if flags, err := unix.FcntlInt(firstOfSystemd, unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
		return errors.New("a child would inherit the socket")
	}
	fmt.Println(s.CloseUnused())
	return nil
}

// runWith runs a program with a file after the standard ones and returns its output.
func runWith(p Program, file *os.File) ([]byte, error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

// TestFromSystemd checks the protocol of sd_listen_fds(3), and that the sockets of another process
// are left alone.
func TestFromSystemd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	program := self(t, "systemd")
	t.Setenv("LISTEN_FDS", "1")
	out, err := runWith(program, file)
	if err != nil || strings.TrimSpace(string(out)) != "["+l.Addr().String()+"]" {
		t.Errorf("%s %v", out, err)
	}
	t.Setenv("LISTEN_PID", "1")
	if s, err := FromSystemd(); err != nil || len(s.given) != 0 {
		t.Errorf("sockets of process 1: %v %v", s.given, err)
	}
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	t.Setenv("LISTEN_FDS", "many")
	if _, err := FromSystemd(); err == nil {
		t.Error("LISTEN_FDS may be a word")
	}
}

// TestLinkLimits checks that a broken message is an error and leaves no file open.
func TestLinkLimits(t *testing.T) {
	fds, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLink(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	other, err := newLink(fds[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := l.send(message{Kind: ready, Names: []string{"one"}}); err == nil {
		t.Error("a name without a file was sent")
	}
	if err := l.send(message{Kind: failed, Text: strings.Repeat("x", maxMessage)}); err == nil {
		t.Error("a message beyond the limit was sent")
	}
	if err := other.send(message{Kind: alone, Data: json.RawMessage(`1`)}); err != nil {
		t.Fatal(err)
	}
	if m, err := l.receive(); err != nil || m.Kind != alone || string(m.Data) != "1" {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := other.conn.Write([]byte{0xff, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.receive(); err == nil {
		t.Error("a message of 4 GB was accepted")
	}
	other.close()
	if _, err := l.receive(); !errors.Is(err, io.EOF) {
		t.Error("after the end:", err)
	}
}

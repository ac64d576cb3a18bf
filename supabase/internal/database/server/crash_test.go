package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestRestartAfterKill(t *testing.T) {
	o := options(t)
	down, up := make(chan error, 10), make(chan struct{}, 10)
	o.OnDown = func(err error) { down <- err }
	o.OnUp = func() { up <- struct{}{} }
	s := start(t, o)
	query(t, s.URL(Superuser), `create table kept as select 1 as x`)
	url, tcp := s.URL(Superuser), s.Port()
	for i := range 3 {
		begin := time.Now()
		s.mu.Lock()
		p := s.child
		s.mu.Unlock()
		p.signal(syscall.SIGKILL)
		if err := receive(t, down); err == nil {
			t.Error("OnDown got no reason")
		}
		receive(t, up)
		t.Logf("restarted after %v", time.Since(begin))
		if got := query(t, url, `select count(*) from kept`); got != fmt.Sprint(i+1) {
			t.Errorf("round %d: %s rows", i, got)
		}
		query(t, url, `insert into kept values (1)`)
	}
	if s.Port() != tcp {
		t.Error("the port has changed")
	}
}

// When a backend dies alone, Postgres restarts itself and our process stays.
func TestBackendCrash(t *testing.T) {
	s := start(t, options(t))
	pid := query(t, s.URL(Superuser), `select pid from pg_stat_activity where backend_type = 'checkpointer'`)
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	before := s.child.pid
	syscall.Kill(n, syscall.SIGKILL)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if now, err := tryQuery(t.Context(), s.URL(Superuser),
			`select pid from pg_stat_activity where backend_type = 'checkpointer'`); err == nil && now != pid {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("Postgres did not come back")
		}
	}
	if s.child.pid != before {
		t.Error("the postmaster was replaced")
	}
}

func receive[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("timeout: nothing received")
	}
	return v
}

// parentEnv makes this test binary a program that serves the given data folder
// until it is killed.
const parentEnv = "DAAWO_TEST_PARENT_OF"

func runParent(data string) {
	pkg, err := FindPackage(".")
	if err == nil {
		_, err = Start(context.Background(), Options{Source: pkg, Data: data})
	}
	if err != nil {
		slog.Error("parent", "error", err)
		os.Exit(1)
	}
	os.Stdout.WriteString("ready\n")
	select {}
}

func TestStartAfterParentKilled(t *testing.T) {
	o := options(t)
	for range 3 {
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), parentEnv+"="+o.Data)
		parent.Stderr = os.Stderr
		out, err := parent.StdoutPipe()
		if err == nil {
			err = parent.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		parent.Process.Kill()
		parent.Wait()
		begin := time.Now()
		s := start(t, o)
		t.Logf("serving again after %v", time.Since(begin))
		query(t, s.URL(Superuser), `select 1`)
		stop(t, s)
	}
}

func TestAdoptRunningServer(t *testing.T) {
	o := options(t)
	s := start(t, o)
	port := s.Port()
	stop(t, s)
	if _, err := Locate(o.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("located a stopped server: %v", err)
	}

	orphan, err := launchOrphan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	url, err := Locate(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	query(t, url(Superuser), `select 1`)
	adopter := start(t, o)
	if adopter.Port() != port || adopter.child != nil {
		t.Errorf("port %d, child %v: a new server was started", adopter.Port(), adopter.child)
	}
	query(t, adopter.URL(Superuser), `create table kept ()`)

	// An adopted server is supervised like a child.
	orphan.signal(syscall.SIGKILL)
	<-orphan.exited
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := tryQuery(t.Context(), adopter.URL(Superuser), `select count(*) from kept`); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the adopted server was not replaced after its death")
		}
	}
}

func TestStopAdoptedServer(t *testing.T) {
	o := options(t)
	s := start(t, o)
	stop(t, s)
	orphan, err := launchOrphan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, o))
	receive(t, orphan.exited)
}

func TestPortChangeReplacesServer(t *testing.T) {
	o := options(t)
	s := start(t, o)
	stop(t, s)
	orphan, err := launchOrphan(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if o.Port, err = pickPort(0); err != nil {
		t.Fatal(err)
	}
	if adopter := start(t, o); adopter.Port() != o.Port {
		t.Errorf("port %d, want %d", adopter.Port(), o.Port)
	}
	receive(t, orphan.exited)
}

// launchOrphan runs a stopped server's Postgres without a supervisor.
func launchOrphan(t *testing.T, s *Server) (*process, error) {
	if err := ensurePrivateDir(s.socketDir, s.owner); err != nil {
		return nil, err
	}
	err := s.launch(t.Context(), s.checkDurable)
	if p := s.child; err == nil {
		t.Cleanup(func() { s.halt(p, time.Second) })
	}
	return s.child, err
}

func TestRecycledPidInPidFile(t *testing.T) {
	o := options(t)
	s := start(t, o)
	stop(t, s)
	// Another process has the pid now: this test.
	text := fmt.Sprintf("%d\n%s\n1\n%d\n%s\n127.0.0.1\n1 1\nready   \n", os.Getpid(), o.Data, s.Port(), s.socketDir)
	if err := errors.Join(
		ensurePrivateDir(s.socketDir, s.owner),
		os.WriteFile(filepath.Join(o.Data, "postmaster.pid"), []byte(text), 0o600),
		os.WriteFile(filepath.Join(s.socketDir, fmt.Sprintf(".s.PGSQL.%d.lock", s.Port())), []byte(text), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	o.Port = s.Port()
	query(t, start(t, o).URL(Superuser), `select 1`)
}

// A postmaster that dies after it made its socket's lock, but before its pid file names the socket,
// leaves a lock that no pid file mentions. The lock looks valid if another process has the pid now.
func TestStaleSocketLock(t *testing.T) {
	o := options(t)
	s := start(t, o)
	dir, port := s.socketDir, s.Port()
	stop(t, s)
	other := exec.Command("sleep", "600") // same user: Postgres ignores processes of other users
	other.SysProcAttr = procAttr(s.owner)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	lock := filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d.lock", port))
	if err := errors.Join(
		ensurePrivateDir(dir, s.owner),
		os.WriteFile(lock, fmt.Appendf(nil, "%d\n%s\n0\n%d\n%s\n", other.Process.Pid, o.Data, port, dir), 0o600),
		s.owner.chown(lock),
	); err != nil {
		t.Fatal(err)
	}
	o.Port = port
	again := start(t, o)
	if got := query(t, again.URL(Superuser), `select 1`); got != "1" {
		t.Error(got)
	}
}

func TestIncompleteClusterIsRecreated(t *testing.T) {
	o := options(t)
	tmp := o.Data + ".tmp"
	if err := errors.Join(os.Mkdir(tmp, 0o700),
		os.WriteFile(filepath.Join(tmp, "PG_VERSION"), []byte("17\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	query(t, start(t, o).URL(Superuser), `select 1`)
	if _, err := os.Stat(tmp); err == nil {
		t.Error("the incomplete cluster still exists")
	}
}

// A shell whose working directory is the data folder does not block the start.
func TestShellInDataFolder(t *testing.T) {
	o := options(t)
	s := start(t, o)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	shell := exec.Command("sleep", "60")
	shell.Dir = o.Data
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer shell.Wait()
	defer shell.Process.Kill()
	start(t, o)
}

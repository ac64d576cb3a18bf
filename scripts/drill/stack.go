package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// stack is one Daawo of the drill's own: a data folder under the temporary directory, and ports that nobody else has.
type stack struct {
	binary string
	dir    string
	env    map[string]string // what `daawo status -o env` prints
	extra  []string          // further environment of the server
	cmd    *exec.Cmd
	exited chan struct{}
	log    *os.File
	ports  []string // flags that keep the ports over a restart
}

// newStack starts a server on an empty data folder and waits until it is ready.
func newStack(ctx context.Context, s settings, extra ...string) (*stack, error) {
	binary, err := filepath.Abs(s.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w (make build makes it)", err)
	}
	dir, err := os.MkdirTemp("", "daawo-drill-")
	if err != nil {
		return nil, err
	}
	// Postgres runs as another user when the drill runs as root: the folder must be traversable.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	// Writers tell their addresses by X-Forwarded-For (history.go).
	extra = append(extra, "TRUSTED_PROXIES=127.0.0.1/32")
	st := &stack{binary: binary, dir: dir, extra: extra, log: log, ports: []string{"--port", "0"}}
	if err := st.start(ctx); err != nil {
		st.close()
		return nil, err
	}
	// A client retries against the address it knows: later starts use the same port.
	st.ports = []string{"--port", portOf(st.env["API_URL"])}
	return st, nil
}

func portOf(url string) string { return url[strings.LastIndexByte(url, ':')+1:] }

func (st *stack) data() string { return filepath.Join(st.dir, "data") }

// start runs the binary and waits for its readiness.
func (st *stack) start(ctx context.Context) error {
	args := append([]string{"start", "--data", st.data()}, st.ports...)
	st.cmd = exec.Command(st.binary, args...)
	st.cmd.Env = append(os.Environ(), st.extra...)
	st.cmd.Stdout, st.cmd.Stderr = st.log, st.log
	// Its own process group: an interrupt at the terminal is the drill's to pass on.
	st.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := st.cmd.Start(); err != nil {
		return err
	}
	cmd, exited := st.cmd, make(chan struct{})
	st.exited = exited
	go func() { _ = cmd.Wait(); close(exited) }()
	return st.ready(ctx)
}

// ready waits until the stack answers /readyz with 200.
func (st *stack) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready after 60 s:\n%s", st.logTail())
		case <-st.exited:
			return fmt.Errorf("the server ended while starting:\n%s", st.logTail())
		case <-time.After(10 * time.Millisecond):
		}
		if st.env == nil {
			if env, err := st.status(); err == nil {
				st.env = env
			}
			continue
		}
		if code, _ := get(ctx, st.env["API_URL"]+"/readyz"); code == 200 {
			return nil
		}
	}
}

// status asks the running server for its addresses and keys.
func (st *stack) status() (map[string]string, error) {
	out, err := exec.Command(st.binary, "status", "--data", st.data(), "-o", "env").Output()
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		env[name] = strings.Trim(value, "'")
	}
	if env["API_URL"] == "" {
		return nil, errors.New("status names no API_URL")
	}
	return env, nil
}

// killServer ends the Go process at once, as a power cut would.
func (st *stack) killServer() { _ = st.cmd.Process.Kill(); <-st.exited }

// killPostgres ends the postmaster at once and leaves its children to notice.
func (st *stack) killPostgres() error {
	pid, err := st.postmaster()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// postmaster finds the pid in the first line of postmaster.pid (PostgreSQL documentation, "Database File Layout").
func (st *stack) postmaster() (int, error) {
	var found string
	err := filepath.WalkDir(st.data(), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "postmaster.pid" {
			found = path
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil || found == "" {
		return 0, fmt.Errorf("no postmaster.pid below %s", st.data())
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(bytes.TrimSpace(line)))
}

// stop ends the server as an operator would, and Postgres with it.
func (st *stack) stop() {
	_ = st.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-st.exited:
	case <-time.After(15 * time.Second):
		st.killServer()
	}
}

// databaseHost is host:port of a database URL.
func databaseHost(url string) string {
	_, rest, _ := strings.Cut(url, "@")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// db connects as the administrator.
func (st *stack) db(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, st.env["DB_URL"])
}

func (st *stack) logTail() string {
	text, _ := os.ReadFile(st.log.Name())
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}

// close stops the server and removes its folder.
func (st *stack) close() {
	if st.cmd != nil && st.cmd.Process != nil {
		st.stop()
	}
	_ = st.log.Close()
	_ = os.RemoveAll(st.dir)
}

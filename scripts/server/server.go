// Package server starts a built Daawo for drills and benchmarks: with a temporary data folder, free
// ports, and the addresses and keys that `daawo status` prints.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Stack is a server with its own data folder.
type Stack struct {
	Args []string // flags of the next start; New sets the public port here
	Work string   // working folder of the next start; "" means the current one

	mu  sync.RWMutex
	env map[string]string // output of `daawo status -o env` at the last start

	binary string
	dir    string
	extra  []string // additional environment variables
	cmd    *exec.Cmd
	exited chan struct{}
	log    string // name of the log
}

// PublicChannels lets clients use public channels of Realtime, which the site refuses.
const PublicChannels = "SUPABASE_REALTIME_PRIVATE_ONLY=false"

// New starts a server on an empty data folder, with additional NAME=value variables, and waits
// until it is ready.
func New(ctx context.Context, binary string, extra ...string) (*Stack, error) {
	return NewIn(ctx, "", binary, extra...)
}

// NewIn is like New, with the folder in parent instead of the temporary directory.
func NewIn(ctx context.Context, parent, binary string, extra ...string) (*Stack, error) {
	return newStack(ctx, parent, "", binary, extra)
}

// NewFor is like New for the project in a folder.
func NewFor(ctx context.Context, work, binary string, extra ...string) (*Stack, error) {
	return newStack(ctx, "", work, binary, extra)
}

func newStack(ctx context.Context, parent, work, binary string, extra []string) (*Stack, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: run make build", err)
	}
	dir, err := os.MkdirTemp(parent, "daawo-stack-")
	if err != nil {
		return nil, err
	}
	// Postgres runs as another user when the drill runs as root: the folder must be traversable.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	// Drills set client addresses with X-Forwarded-For.
	extra = append(extra, "TRUSTED_PROXIES=127.0.0.1/32")
	st := &Stack{binary: binary, dir: dir, extra: extra, log: filepath.Join(dir, "server.log"), Work: work,
		Args: []string{"--port", "0"}}
	if err := st.Start(ctx); err != nil {
		st.Close()
		return nil, err
	}
	// Later starts use the same port, so that clients can retry.
	st.Args = []string{"--port", PortOf(st.Get("API_URL"))}
	return st, nil
}

// Get returns a value of `daawo status -o env`.
func (st *Stack) Get(name string) string {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.env[name]
}

// PortOf returns the port at the end of an address.
func PortOf(url string) string { return url[strings.LastIndexByte(url, ':')+1:] }

// HostOf returns host:port of an address without a path.
func HostOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// Data returns the data folder.
func (st *Stack) Data() string { return filepath.Join(st.dir, "data") }

// Start runs the binary and waits until it is ready.
func (st *Stack) Start(ctx context.Context) error {
	log, err := os.OpenFile(st.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	args := append([]string{"start", "--data", st.Data()}, st.Args...)
	st.cmd = exec.Command(st.binary, args...)
	st.cmd.Env = append(os.Environ(), st.extra...)
	st.cmd.Dir = st.Work
	st.cmd.Stdout, st.cmd.Stderr = log, log
	// Use a new process group, so that Ctrl-C does not reach the server.
	st.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := st.cmd.Start(); err != nil {
		return err
	}
	cmd, exited := st.cmd, make(chan struct{})
	st.exited = exited
	go func() { _ = cmd.Wait(); close(exited) }()
	return st.Ready(ctx)
}

// Ready waits until /readyz returns 200.
func (st *Stack) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready after 60 s:\n%s", st.LogTail())
		case <-st.exited:
			return fmt.Errorf("the server ended while starting:\n%s", st.LogTail())
		case <-time.After(10 * time.Millisecond):
		}
		// After a restart the address is known, and a request costs less than a status command.
		if at := st.Get("API_URL"); at != "" && !ready(ctx, at) {
			continue
		}
		env, err := st.status()
		if err != nil {
			continue
		}
		st.mu.Lock()
		st.env = env
		st.mu.Unlock()
		if ready(ctx, env["API_URL"]) {
			return nil
		}
	}
}

func ready(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// status returns the addresses and keys of the running server.
func (st *Stack) status() (map[string]string, error) {
	out, err := exec.Command(st.binary, "status", "--data", st.Data(), "-o", "env").Output()
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
	if inside := env["INSIDE_URL"]; inside != "" { // the public address leads elsewhere
		env["API_URL"] = inside
	}
	if env["API_URL"] == "" {
		return nil, errors.New("status has no API_URL")
	}
	return env, nil
}

// Run runs another command of the binary on the data folder and returns its output.
func (st *Stack) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, st.binary, append([]string{args[0], "--data", st.Data()}, args[1:]...)...)
	cmd.Env = append(os.Environ(), st.extra...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("daawo %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// KillServer sends SIGKILL to the server.
func (st *Stack) KillServer() { _ = st.cmd.Process.Kill(); <-st.exited }

// KillPostgres sends SIGKILL to the postmaster only.
func (st *Stack) KillPostgres() error {
	pid, err := st.Postmaster()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// Postmaster returns the pid in the first line of postmaster.pid (PostgreSQL documentation,
// "Database File Layout").
func (st *Stack) Postmaster() (int, error) {
	var found string
	err := filepath.WalkDir(st.Data(), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "postmaster.pid" {
			found = path
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil || found == "" {
		return 0, fmt.Errorf("no postmaster.pid below %s", st.Data())
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return 0, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return strconv.Atoi(string(bytes.TrimSpace(line)))
}

// Stop stops the server and its Postgres with SIGTERM, after 15 seconds with SIGKILL.
func (st *Stack) Stop() {
	_ = st.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-st.exited:
	case <-time.After(15 * time.Second):
		st.KillServer()
	}
}

// DatabaseHost returns host:port of a database URL.
func DatabaseHost(url string) string {
	_, rest, _ := strings.Cut(url, "@")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// DB connects to the database as the administrator.
func (st *Stack) DB(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, st.Get("DB_URL"))
}

// Log returns the server's log.
func (st *Stack) Log() (string, error) {
	text, err := os.ReadFile(st.log)
	return string(text), err
}

// LogTail returns the end of the server's log, for error messages.
func (st *Stack) LogTail() string {
	text, _ := os.ReadFile(st.log)
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}

// Close stops the server and removes its folder.
func (st *Stack) Close() {
	if st.cmd != nil && st.cmd.Process != nil {
		st.Stop()
	}
	_ = os.RemoveAll(st.dir)
}

// PID returns the server's process id.
func (st *Stack) PID() int { return st.cmd.Process.Pid }

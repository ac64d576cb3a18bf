package edgetest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// server is the process that makes databases, see package testserver. It ends when its input ends:
// with this process.
type server struct {
	mu  sync.Mutex
	in  io.WriteCloser
	out *bufio.Scanner
}

// made is a new database.
type made struct {
	Name  string
	URLs  map[string]string // by role
	Error string
}

// servers holds the server of each project folder. They live as long as the test binary.
var servers struct {
	sync.Mutex
	byRoot map[string]*server
}

// serverOf returns the server of a project, which the first call starts.
func serverOf(t testing.TB, root string) *server {
	t.Helper()
	servers.Lock()
	defer servers.Unlock()
	if s, ok := servers.byRoot[root]; ok {
		return s
	}
	s, err := startServer(root)
	if err != nil {
		t.Fatalf("edgetest: %v", err)
	}
	if servers.byRoot == nil {
		servers.byRoot = map[string]*server{}
	}
	servers.byRoot[root] = s
	return s
}

// serveCommand is the package of the server in the repository of package edge.
const serveCommand = "daawo/supabase/internal/functions/testserver/serve"

// startServer starts the program that the variable DAAWO names, or builds the server from the
// source of the stack if the project's module has it, or starts the program daawo of PATH.
func startServer(root string) (*server, error) {
	program, args := os.Getenv("DAAWO"), []string{"functions", "testdb", "--workdir", root}
	list := exec.Command("go", "list", serveCommand)
	list.Dir = root
	if program == "" && list.Run() == nil {
		dir, err := os.MkdirTemp("", "edgetest-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir) // a running program needs no file
		program, args = filepath.Join(dir, "serve"), []string{filepath.Join(root, "supabase")}
		build := exec.Command("go", "build", "-o", program, serveCommand)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
	}
	program, err := exec.LookPath(cmp.Or(program, "daawo"))
	if err != nil {
		return nil, errors.New("DB needs the program daawo in PATH, or its path in the variable DAAWO")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	// Ctrl-C ends this process, and the end of the input ends the server
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s := &server{}
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	return s, cmd.Start()
}

// make makes a database.
func (s *server) make() (made, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var m made
	if _, err := io.WriteString(s.in, "new\n"); err != nil {
		return m, err
	}
	if !s.out.Scan() {
		return m, errors.Join(errors.New("the database server ended"), s.out.Err())
	}
	if err := json.Unmarshal(s.out.Bytes(), &m); err != nil {
		return m, err
	}
	if m.Error != "" {
		return m, errors.New(m.Error)
	}
	return m, nil
}

// drop drops a database.
func (s *server) drop(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.in, "drop "+name+"\n")
	return err
}

// Package studio runs Supabase Studio, which `daawo studio add` has added to the project: it starts
// the program at the first request and ends it when it is idle.
package studio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"daawo/supabase/internal/gateway"
	"daawo/supabase/internal/parts"
	"daawo/supabase/internal/parts/program"
)

// Part is Studio in the version that was tested with this program.
var Part = parts.Part{Name: "studio", Version: "2026.09.14-sha-4dd8a95", Program: "bin/studio"}

// Options configure a Server.
type Options struct {
	// Find returns the folder of Studio's files; ok is false if Studio is not added.
	Find func() (folder string, ok bool, err error)
	// Variables returns the environment of the program, with secrets. It is called at each start,
	// after the folders of Folders exist.
	Variables func(context.Context, Folders) ([]string, error)
	// Functions writes Folders.Functions if it is not up to date. It is called before requests for
	// the list of functions; nil does nothing.
	Functions func(Folders) error
	Dir       string // folder in the data folder for the program's files
	Command   string // name of this program in texts
	// Docker returns the line that runs Studio in a container instead; nil for none.
	Docker func(context.Context) (string, error)
	Idle   time.Duration // how long Studio runs without a request; 0 means 15 minutes
	Memory int64         // bytes of all its processes; 0 means no limit
	// the user that runs it, nil for the own one; Give makes that user the owner of Dir
	Credential *syscall.Credential
	Give       func(dir string) error
	Log        *slog.Logger
}

// Folders are the folders of a Studio.
type Folders struct {
	Home      string // of the program's user
	Snippets  string // saved SQL; they stay
	Functions string // shows the project's functions
}

const (
	defaultIdle = 15 * time.Minute
	maxOutput   = 1 << 20 // bytes of the program's output that are kept
	// V8's heap as in the profile of the archive's publisher
	nodeOptions = "--max-old-space-size=192 --max-semi-space-size=2"
)

// Server is the handler of Studio's port.
type Server struct {
	o       Options
	program *program.Program
}

// New returns a server that has started nothing.
func New(o Options) *Server {
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	s := &Server{o: o}
	s.program = program.New(program.Options{
		Name: "Studio", Command: s.command, Handler: s.proxy, Ready: "/api/platform/profile", Idle: o.Idle,
		Output: func() (io.WriteCloser, error) { return newOutput(s.output()) }, Hint: s.output(), Memory: o.Memory,
		MemoryLimit: "STUDIO_MEMORY", Log: o.Log,
	})
	return s
}

var errNotAdded = errors.New("no Supabase Studio is added")

// ServeHTTP forwards a request to Studio. While Studio starts, a browser gets a page that loads
// again by itself, and other requests wait.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.program.Running() {
		if _, err := s.find(); err != nil {
			s.refuse(w, r, err)
			return
		}
	}
	current, err := s.program.Acquire()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer s.program.Release(current)
	if page(r) {
		select {
		case <-current.Started:
		default:
			writePage(w, http.StatusServiceUnavailable, waitingPage)
			return
		}
	}
	select {
	case <-current.Started:
	case <-r.Context().Done():
		return
	}
	if current.Handler == nil {
		s.refuse(w, r, current.Failure)
		return
	}
	if s.o.Functions != nil && listsFunctions(r.URL.Path) {
		if err := s.o.Functions(s.folders()); err != nil {
			s.o.Log.Warn("functions for Studio", "error", err)
		}
	}
	current.Handler.ServeHTTP(w, r)
}

// listsFunctions reports whether Studio reads the folder of functions for a path.
func listsFunctions(path string) bool {
	return strings.HasPrefix(path, "/api/v1/projects/") && strings.Contains(path, "/functions")
}

// page reports whether a browser loads a page.
func page(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// find returns the folder of Studio's files, or errNotAdded.
func (s *Server) find() (string, error) {
	folder, ok, err := s.o.Find()
	if err == nil && !ok {
		err = errNotAdded
	}
	return folder, err
}

// command returns Studio on a port.
func (s *Server) command(ctx context.Context, port int) (*exec.Cmd, error) {
	folder, err := s.find()
	if err != nil {
		return nil, err
	}
	f := s.folders()
	for _, dir := range []string{f.Home, f.Snippets, f.Functions} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	variables, err := s.o.Variables(ctx, f)
	if err != nil {
		return nil, err
	}
	if s.o.Give != nil {
		if err := s.o.Give(s.o.Dir); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(filepath.Join(folder, filepath.FromSlash(Part.Program)))
	cmd.Dir = folder
	// Nothing of this process's environment is passed on, which has secrets.
	cmd.Env = append([]string{
		"PATH=/usr/bin:/bin", "HOME=" + f.Home, "TMPDIR=" + os.TempDir(), "TZ=UTC", "LC_ALL=C.UTF-8",
		"NODE_ENV=production", "HOSTNAME=127.0.0.1", "PORT=" + strconv.Itoa(port),
		"NODE_OPTIONS=" + nodeOptions, "NEXT_TELEMETRY_DISABLED=1",
	}, variables...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.o.Credential}
	return cmd, nil
}

// proxy returns a handler that forwards requests to Studio at an address.
func (s *Server) proxy(address string) http.Handler {
	return gateway.Proxy(&url.URL{Scheme: "http", Host: address}, 0, s.o.Log)
}

// output returns the path of the file with what Studio printed.
func (s *Server) output() string { return filepath.Join(s.o.Dir, "output.log") }

// startOfOutput writes the first bytes to a file and drops the rest.
type startOfOutput struct {
	file *os.File
	left int
}

// newOutput creates a file in place of an old one. It follows no link: the program may own the
// folder, and this process may be root.
func newOutput(name string) (io.WriteCloser, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return &startOfOutput{f, maxOutput}, err
}

func (o *startOfOutput) Write(b []byte) (int, error) {
	kept, err := o.file.Write(b[:min(len(b), o.left)])
	o.left -= kept
	return len(b), err
}

// Close closes the file.
func (o *startOfOutput) Close() error { return o.file.Close() }

// folders returns the folders below Dir.
func (s *Server) folders() Folders {
	return Folders{
		Home: filepath.Join(s.o.Dir, "home"), Snippets: filepath.Join(s.o.Dir, "snippets"),
		Functions: filepath.Join(s.o.Dir, "functions"),
	}
}

// Close ends Studio. Later requests are refused.
func (s *Server) Close(context.Context) error {
	s.program.Close()
	return nil
}

// Package studio runs Supabase Studio, which `daawo studio add` has added to the project: it starts
// the program at the first request and ends it when it is idle.
package studio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"daawo/supabase/internal/parts"
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
	defaultIdle  = 15 * time.Minute
	startTimeout = 2 * time.Minute
	// how long a failed start is shown before the next request tries again
	failureShown = 3 * time.Second
)

// Server is the handler of Studio's port.
type Server struct {
	o Options

	mu      sync.Mutex
	run     *run // nil while Studio does not run
	failure error
	failed  time.Time
	active  int // requests that are being answered
	used    time.Time
	closed  bool
	ended   sync.WaitGroup
}

// run is one process of Studio, from its start to its end.
type run struct {
	started chan struct{} // closed when it is ready or has failed
	handler http.Handler  // read it after started is closed; nil if it failed
	failure error         // why it failed
	end     context.CancelFunc
}

// New returns a server that has started nothing.
func New(o Options) *Server {
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	return &Server{o: o}
}

var (
	errNotAdded = errors.New("Supabase Studio is not added")
	errClosed   = errors.New("the server is stopping")
)

// ServeHTTP forwards a request to Studio. While Studio starts, a browser gets a page that loads
// again by itself, and other requests wait.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	current, err := s.acquire()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	defer s.release()
	if page(r) {
		select {
		case <-current.started:
		default:
			writePage(w, http.StatusServiceUnavailable, waitingPage)
			return
		}
	}
	select {
	case <-current.started:
	case <-r.Context().Done():
		return
	}
	if current.handler == nil {
		s.refuse(w, r, current.failure)
		return
	}
	if s.o.Functions != nil && listsFunctions(r.URL.Path) {
		if err := s.o.Functions(s.folders()); err != nil {
			s.o.Log.Warn("functions for Studio", "error", err)
		}
	}
	current.handler.ServeHTTP(w, r)
}

// listsFunctions reports whether Studio reads the folder of functions for a path.
func listsFunctions(path string) bool {
	return strings.HasPrefix(path, "/api/v1/projects/") && strings.Contains(path, "/functions")
}

// page reports whether a browser loads a page.
func page(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// acquire returns the running Studio, or starts it. release must follow unless there is an error.
func (s *Server) acquire() (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.run == nil {
		if s.failure != nil && time.Since(s.failed) < failureShown {
			return nil, s.failure
		}
		folder, ok, err := s.o.Find()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errNotAdded
		}
		s.begin(folder)
	}
	s.active++
	s.used = time.Now()
	return s.run, nil
}

func (s *Server) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.used = time.Now()
}

// begin starts Studio in the background. The caller holds the lock.
func (s *Server) begin(folder string) {
	ctx, end := context.WithCancel(context.Background())
	current := &run{started: make(chan struct{}), end: end}
	s.run, s.failure = current, nil
	s.ended.Go(func() {
		defer end()
		began := time.Now()
		err := s.supervise(ctx, folder, current)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.run == current {
			s.run = nil
		}
		if current.handler == nil {
			s.failure, s.failed = err, time.Now()
			current.failure = err
			close(current.started)
		}
		if err != nil {
			s.o.Log.Warn("Studio ended", "error", err, "after", time.Since(began).Round(time.Second))
		}
	})
}

// supervise runs Studio until ctx ends, it is idle, it needs too much memory or it ends by itself.
// It returns nil if it was ended on purpose.
func (s *Server) supervise(ctx context.Context, folder string, current *run) error {
	p, err := s.start(ctx, folder)
	if err != nil {
		if ctx.Err() != nil {
			return errClosed
		}
		return err
	}
	defer p.stop()
	err = p.awaitReady(ctx)
	switch {
	case ctx.Err() != nil:
		return errClosed
	case err != nil:
		return err
	}
	s.o.Log.Info("Studio started", "duration", time.Since(p.began).Round(10*time.Millisecond))
	current.handler = p.proxy(s.o.Log)
	close(current.started)
	tick := time.NewTicker(min(s.o.Idle/4, 5*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.exited:
			return fmt.Errorf("the program ended by itself: %w", p.result())
		case <-tick.C:
		}
		if s.retire(current) {
			s.o.Log.Info("Studio ended", "idle", s.o.Idle)
			return nil
		}
		if used := p.memory(); s.o.Memory > 0 && used > s.o.Memory {
			return fmt.Errorf("it used %d MB of memory, more than STUDIO_MEMORY", used>>20)
		}
	}
}

// retire reports whether there was no request for a while. The next request then starts another
// process.
func (s *Server) retire(current *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active > 0 || time.Since(s.used) < s.o.Idle {
		return false
	}
	if s.run == current {
		s.run = nil
	}
	return true
}

// folders returns the folders below Dir.
func (s *Server) folders() Folders {
	return Folders{
		Home: filepath.Join(s.o.Dir, "home"), Snippets: filepath.Join(s.o.Dir, "snippets"),
		Functions: filepath.Join(s.o.Dir, "functions"),
	}
}

// Close ends Studio. Later requests are refused.
func (s *Server) Close(context.Context) error {
	s.mu.Lock()
	s.closed = true
	if s.run != nil {
		s.run.end()
	}
	s.mu.Unlock()
	s.ended.Wait()
	return nil
}

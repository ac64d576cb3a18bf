// Package handover replaces the running process of a server by a new one, which takes over the
// listening sockets, so that no connection is refused.
//
// The first process of a server is the keeper: it owns what must not stop (the lock of the data
// folder, Postgres) until the server ends, and keeps its process id. An upgrade starts a new
// process of the installed program. That one gets the sockets over a unix socket, starts beside the
// running server, and reports that it serves. Then the running server stops accepting, finishes its
// requests and closes its parts. If the new process does not start, the running server continues.
package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrUnderWay means that an upgrade is under way.
var ErrUnderWay = errors.New("an upgrade is under way; try again when it has ended")

// lockName is the name of the file that a server keeps open and does not use: the lock of the data
// folder. The kernel drops the lock when the last of its processes has ended.
const lockName = "lock"

// Program is a program to start as a server.
type Program struct {
	Path string
	Args []string // without the program's name
	Dir  string   // "" means the working folder
}

// This returns the running program with its arguments, by the path with which it was started. A new
// release is installed under that path, also if it is a symbolic link. Call it at the start, before
// the file can change.
func This() Program {
	p := Program{Path: os.Args[0], Args: os.Args[1:]}
	own, err := os.Executable()
	if named, lerr := exec.LookPath(p.Path); lerr == nil {
		if named, lerr = filepath.Abs(named); lerr == nil && sameFile(named, own) {
			p.Path = named
			return p
		}
	}
	if err == nil {
		p.Path = own
	}
	return p
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Server is the view of a keeper on a server that it has started.
type Server struct {
	About json.RawMessage // what it said about itself when it was ready

	link    *link
	process *os.Process // nil in tests
	asked   chan struct{}
	exited  chan struct{}
	err     error // read it after exited is closed

	mu    sync.Mutex
	files *Files // its sockets
}

// Start starts a program as the next server, with files and facts for it, and returns when it
// serves. If it does not, Start returns why; ctx ends the wait and the process. The lock may be
// nil.
func Start(ctx context.Context, p Program, facts any, files *Files) (*Server, error) {
	fds, err := pair()
	if err != nil {
		return nil, err
	}
	end := os.NewFile(uintptr(fds[1]), "handover")
	defer end.Close()
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), variable+"=3")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{end} // file 3
	// Ctrl-C is for the keeper, which ends both in the right order
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l, err := newLink(fds[0])
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		l.close()
		return nil, fmt.Errorf("%s does not start: %w", p.Path, err)
	}
	_ = end.Close() // otherwise the link would not end with the process
	return welcomed(ctx, l, cmd.Process, cmd.Wait, facts, files)
}

// Connect connects a server that StartWithin has started, like FromKeeper.
type Connect func(facts any) (*Keeper, error)

// StartWithin is Start with a server in this process instead of a program, for tests of the parts
// of both. serve returns when the server has ended.
func StartWithin(ctx context.Context, facts any, files *Files, serve func(Connect) error) (*Server, error) {
	fds, err := pair()
	if err != nil {
		return nil, err
	}
	l, err := newLink(fds[0])
	if err != nil {
		return nil, err
	}
	return welcomed(ctx, l, nil,
		func() error { return serve(func(facts any) (*Keeper, error) { return newKeeper(fds[1], facts) }) }, facts,
		files)
}

// welcomed sends the welcome to a server and waits until it is ready. wait returns when the server
// has ended.
func welcomed(ctx context.Context, l *link, process *os.Process, wait func() error, facts any, files *Files) (*Server,
	error) {
	s := &Server{link: l, process: process, asked: make(chan struct{}, 1), exited: make(chan struct{}), files: &Files{}}
	data, err := json.Marshal(facts)
	if err == nil {
		err = l.send(message{Kind: welcome, Data: data, Names: files.names, files: files.fds})
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			err = errEnded // before it read the welcome
		}
	}
	first := make(chan error, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(first)
	}()
	go func() {
		s.err = wait()
		<-read
		l.close()
		close(s.exited)
	}()
	if err == nil {
		select {
		case err = <-first:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err == nil {
		return s, nil
	}
	if ctx.Err() != nil {
		s.Kill()
	}
	if end := s.Await(endOfFailed); end != nil && errors.Is(err, errEnded) {
		err = fmt.Errorf("%w: %w", err, end)
	}
	return nil, err
}

// endOfFailed is how long a server that does not start may take to end its parts.
const endOfFailed = 10 * time.Second

// errEnded means that a server ended before it was ready and did not say why.
var errEnded = errors.New("the new process ended before it served; its log says why")

// read reads the messages of the server until its link ends. It sends the result of the start to
// result.
func (s *Server) read(result chan<- error) {
	first := func(err error) {
		select {
		case result <- err:
		default: // the result is known
		}
	}
	for {
		m, err := s.link.receive()
		if err != nil {
			first(errEnded)
			return
		}
		switch m.Kind {
		case ready:
			s.About = m.Data
			s.mu.Lock()
			s.files.Close()
			s.files = &Files{m.Names, m.files}
			s.mu.Unlock()
			first(nil)
			continue
		case failed:
			first(errors.New(strings.TrimSpace(m.Text)))
		case upgrade:
			select {
			case s.asked <- struct{}{}:
			default: // it has asked already
			}
		}
		closeFiles(m.files)
	}
}

// PID returns the process id.
func (s *Server) PID() int {
	if s.process == nil {
		return os.Getpid()
	}
	return s.process.Pid
}

// Asked receives when the server asks for an upgrade.
func (s *Server) Asked() <-chan struct{} { return s.asked }

// Answer tells the server the result of the upgrade that it asked for. about is what the next
// server said about itself.
func (s *Server) Answer(about json.RawMessage, result error) {
	m := message{Kind: upgraded, Data: about}
	if result != nil {
		m.Text = result.Error()
	}
	_ = s.link.send(m) // the server may have ended, which Exited says
}

// Alone tells the server that the one before it has ended.
func (s *Server) Alone() { _ = s.link.send(message{Kind: alone}) }

// Replace tells the server to finish its requests and to end, because another one serves.
func (s *Server) Replace() { _ = s.link.send(message{Kind: replaced}) }

// Stop tells the server to end.
func (s *Server) Stop() { _ = s.link.send(message{Kind: stop}) }

// Exited is closed when the server has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Err returns how the server has ended, nil for an orderly end. Call it after Exited is closed.
func (s *Server) Err() error { return s.err }

// Await waits until the server has ended. After limit it kills it.
func (s *Server) Await(limit time.Duration) error {
	select {
	case <-s.exited:
		return s.err
	case <-time.After(limit):
		s.Kill()
		<-s.exited
		return fmt.Errorf("the process has not ended within %v and was killed", limit)
	}
}

// Kill ends the process at once.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Kill()
		return
	}
	s.link.close()
}

// Files returns duplicates of the sockets of the server.
func (s *Server) Files() (*Files, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.duplicate()
}

// Close closes the keeper's copies of the sockets of the server.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files.Close()
}

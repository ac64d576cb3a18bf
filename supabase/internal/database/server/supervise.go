package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	firstPause   = 50 * time.Millisecond // before the first restart
	longestPause = 5 * time.Second
	leftoverWait = 10 * time.Second // how long a dying server may take to end
)

// adopt takes over a server that a killed parent left running on the data
// folder and returns its pid, or 0 if there is none. It waits for a server that
// is shutting down and removes the stale files of a dead one.
func (s *Server) adopt(ctx context.Context) (int, error) {
	var adopted int
	err := s.waitUntilUnused(ctx, func(f pidFile) bool {
		if !f.ready || f.socketDir == "" {
			return false
		}
		s.socketDir, s.port = f.socketDir, f.port
		err := s.withConn(ctx, func(c *pgconn.PgConn) error { return s.checkDurable(ctx, c) })
		if err == nil && (s.opt.Port == 0 || s.opt.Port == f.port) {
			s.opt.Log.Info("adopted running postgres", "pid", f.pid, "port", f.port)
			adopted = f.pid
			return true
		}
		s.socketDir, s.port = "", 0
		if err == nil { // it listens on another port than configured
			syscall.Kill(f.pid, syscall.SIGINT)
		}
		return false
	})
	return adopted, err
}

// waitUntilUnused waits until no process uses the data folder and removes the
// stale files there. It returns at once if keep accepts the running server.
func (s *Server) waitUntilUnused(ctx context.Context, keep func(pidFile) bool) error {
	deadline := time.Now().Add(leftoverWait)
	for {
		f, err := readPidFile(s.opt.Data)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read postmaster.pid: %w", err)
		}
		pids := postgresPids(s.opt.Data, f)
		if len(pids) == 0 {
			return removeStale(s.opt.Data, f)
		}
		if keep(f) {
			return nil
		}
		if time.Now().After(deadline) {
			return userErrorf(ErrInUse, "processes %v use %s and do not answer: end them, then start again", pids,
				s.opt.Data)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func keepNone(pidFile) bool { return false }

// supervise keeps the server running until Stop. It never gives up: the cause,
// such as a full disk, may be fixed at any time.
func (s *Server) supervise(adopted int) {
	for {
		reason := s.awaitEnd(adopted)
		adopted = 0
		select {
		case <-s.stopping:
			return
		default:
		}
		s.opt.Log.Error("postgres exited; restarting", "reason", reason)
		if s.opt.OnDown != nil {
			s.opt.OnDown(reason)
		}
		if !s.relaunch() {
			return
		}
		s.opt.Log.Info("postgres restarted")
		if s.opt.OnUp != nil {
			s.opt.OnUp()
		}
	}
}

// awaitEnd waits until the current server has ended and returns the reason.
func (s *Server) awaitEnd(adopted int) error {
	s.mu.Lock()
	p := s.child
	s.mu.Unlock()
	if p != nil {
		select {
		case <-p.exited:
		case <-s.stopping:
			p.signal(syscall.SIGINT)
			<-p.exited
		}
		return explain("Postgres ended", s.opt, orEnded(p.err), p.lastMessages()...)
	}
	// An adopted server is not our child, so poll.
	for len(postgresPids(s.opt.Data, pidFile{pid: adopted})) > 0 {
		select {
		case <-s.stopping:
			s.haltAdopted(adopted)
			return ErrStopped
		case <-time.After(250 * time.Millisecond):
		}
	}
	return errors.New("the adopted Postgres ended")
}

func orEnded(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// relaunch starts the server again, with growing pauses between attempts. It
// returns true when the server answers and false after Stop.
func (s *Server) relaunch() bool {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-s.stopping:
			cancel(ErrStopped)
		case <-ctx.Done():
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		select {
		case <-s.stopping:
			return false
		case <-time.After(pause):
		}
		err := s.waitUntilUnused(ctx, keepNone) // the dead server's children must end first
		if err == nil {
			err = ensurePrivateDir(s.socketDir, s.owner)
		}
		if err == nil {
			err = s.launch(ctx, s.checkDurable)
		}
		if err == nil {
			return true
		}
		s.opt.Log.Error("postgres did not start; retrying", "reason", err)
	}
}

// Stop ends the server with a fast shutdown: open transactions roll back and a
// checkpoint is written. If ctx ends first, Stop kills the server; the next
// start recovers all committed data. Stop may be called again.
func (s *Server) Stop(ctx context.Context) error {
	if s.attached {
		return nil
	}
	s.stopOnce.Do(func() { close(s.stopping) })
	var err error
	select {
	case <-s.done:
	case <-ctx.Done():
		err = fmt.Errorf("postgres did not stop in time and was killed: %w", context.Cause(ctx))
		s.mu.Lock()
		p := s.child
		s.mu.Unlock()
		if p != nil {
			s.halt(p, 0)
		}
		<-s.done
	}
	s.release()
	return err
}

// halt sends a child SIGINT, then SIGQUIT, then SIGKILL, with pauses between.
func (s *Server) halt(p *process, patience time.Duration) {
	p.signal(syscall.SIGINT)
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		select {
		case <-p.exited:
			return
		case <-time.After(patience):
			p.signal(sig)
			patience = 2 * time.Second // for the postmaster to end its children
		}
	}
	<-p.exited
}

func (s *Server) haltAdopted(pid int) {
	syscall.Kill(pid, syscall.SIGINT)
	for start := time.Now(); len(postgresPids(s.opt.Data, pidFile{pid: pid})) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > leftoverWait {
			syscall.Kill(pid, syscall.SIGQUIT)
			return
		}
	}
}

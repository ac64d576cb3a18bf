package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a running cluster. Its methods are safe for concurrent use.
type Server struct {
	opt       Options
	owner     owner
	run       string // the unpacked package
	lock      *os.File
	socketDir string
	port      int
	attached  bool // another process supervises it
	created   bool // Start made the cluster

	mu        sync.Mutex
	child     *process // nil while adopted
	passwords map[string]string

	passwordMu sync.Mutex // held while passwords are set

	readOnly atomic.Bool // because the disk is almost full

	stopping chan struct{}
	stopOnce sync.Once
	done     chan struct{}
}

// Start creates the cluster if it does not exist, starts it or adopts a running
// server, and returns when it answers queries. The error messages are for the
// operator; use errors.Is with the Err variables to test for a reason.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	o = o.withDefaults()
	s := &Server{opt: o, passwords: map[string]string{}, stopping: make(chan struct{}), done: make(chan struct{})}
	if s.owner, err = findOwner(o); err != nil {
		return nil, err
	}
	if err := s.owner.canReach(o.Data); err != nil {
		return nil, err
	}
	if s.lock, err = lockData(o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	if err := s.owner.canReach(filepath.Join(o.Runtime, "postgres")); err != nil {
		return nil, err
	}
	if s.run, err = Unpack(o.Source, o.Runtime); err != nil {
		return nil, err
	}
	if s.created, err = ensureCluster(o, s.owner, s.run); err != nil {
		return nil, err
	}
	if err := ensureVaultKey(o, s.owner); err != nil {
		return nil, err
	}
	low, _ := s.lowOnSpace(false)
	s.readOnly.Store(low)
	adopted, err := s.adopt(ctx)
	if err != nil {
		return nil, err
	}
	if adopted == 0 {
		if s.socketDir, err = makeSocketDir(o, s.owner); err != nil {
			return nil, err
		}
		if err := s.launchOnFreePort(ctx, s.checkDurable, s.checkCollations, s.checkEventTriggers); err != nil {
			return nil, err
		}
	}
	watched := make(chan struct{})
	go func() { defer close(watched); s.watchSpace() }()
	go func() { s.supervise(adopted); <-watched; close(s.done) }()
	return s, nil
}

// launchOnFreePort starts the server on the configured port. If the port is 0,
// it picks a free port, and another one if a different program takes the port
// before Postgres binds it.
func (s *Server) launchOnFreePort(ctx context.Context, checks ...check) error {
	for attempt := 0; ; attempt++ {
		port, err := pickPort(s.opt.Port)
		if err != nil {
			return err
		}
		s.port = port
		err = s.launch(ctx, checks...)
		if err == nil || s.opt.Port != 0 || !errors.Is(err, ErrPortTaken) || attempt == 5 {
			return err
		}
	}
}

func pickPort(want int) (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(want))
	if errors.Is(err, syscall.EADDRINUSE) {
		return 0, portTaken(want)
	} else if err != nil {
		return 0, fmt.Errorf("port %d of 127.0.0.1: %w", want, err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// check examines a server that answers queries, over its first connection.
type check func(context.Context, *pgconn.PgConn) error

// launch starts the postmaster, waits until it answers queries, and makes the checks.
func (s *Server) launch(ctx context.Context, checks ...check) error {
	if err := errors.Join(s.writeConfig(), s.clearSocketDir()); err != nil {
		return err
	}
	p, err := spawn(s.owner, s.opt.Log, s.opt.Data, filepath.Join(s.run, "bin", "postgres"), s.arguments()...)
	if err != nil {
		return explain("start Postgres", s.opt, err)
	}
	if err := s.awaitReady(ctx, p, checks); err != nil {
		s.halt(p, 5*time.Second)
		return err
	}
	s.mu.Lock()
	s.child = p
	s.mu.Unlock()
	return nil
}

// awaitReady makes the checks as soon as the server accepts a connection, and returns their errors.
// Crash recovery may take long, so only ctx limits the wait.
func (s *Server) awaitReady(ctx context.Context, p *process, checks []check) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		// Postgres refuses connections until its pid file says ready.
		err := errNotReady
		if f, _ := readPidFile(s.opt.Data); f.ready && f.pid == p.pid {
			var conn *pgconn.PgConn
			if conn, err = pgconn.Connect(ctx, s.URL(Superuser)); err == nil {
				var failed error
				for _, check := range checks {
					failed = errors.Join(failed, check(ctx, conn))
				}
				return errors.Join(failed, conn.Close(ctx))
			}
		}
		select {
		case <-p.exited:
			return explain("Postgres did not start", s.opt, p.err, p.lastMessages()...)
		case <-ctx.Done():
			return fmt.Errorf("the database does not answer: %w (last error: %w)", context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

var errNotReady = errors.New("still starting")

func (s *Server) withConn(ctx context.Context, f func(*pgconn.PgConn) error) error {
	conn, err := pgconn.Connect(ctx, s.URL(Superuser))
	if err != nil {
		return err
	}
	return errors.Join(f(conn), conn.Close(ctx))
}

// Port returns the loopback TCP port.
func (s *Server) Port() int { return s.port }

// Data returns the cluster's folder.
func (s *Server) Data() string { return s.opt.Data }

// SocketDir returns the folder of the unix socket, which only Postgres' user can enter.
func (s *Server) SocketDir() string { return s.socketDir }

// Created reports whether Start made the cluster, which holds no data of users yet.
func (s *Server) Created() bool { return s.created }

// URL returns a connection string for a role over the unix socket.
func (s *Server) URL(role string) string { return s.DatabaseURL(role, "postgres") }

// DatabaseURL is like URL, for a given database.
func (s *Server) DatabaseURL(role, database string) string {
	return socketURL(s.socketDir, s.port, role, database)
}

// TCPURL returns a connection string for a role over loopback TCP, with the
// password from SetPasswords, if any.
func (s *Server) TCPURL(role string) string {
	s.mu.Lock()
	password, ok := s.passwords[role]
	s.mu.Unlock()
	user := url.User(role)
	if ok {
		user = url.UserPassword(role, password)
	}
	u := url.URL{Scheme: "postgres", User: user, Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path: "/postgres"}
	return u.String()
}

// release removes the socket's folder and releases the lock. The lock file
// stays, because removing it would race with a new owner.
func (s *Server) release() {
	if s.socketDir != "" {
		os.Remove(s.socketDir) // only when empty
	}
	s.lock.Close()
}

package pool

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Times of the detection of a frozen server.
const (
	silence    = 2 * time.Second // without any reply, while a statement waits for one, before the server is asked
	checkEvery = 500 * time.Millisecond
)

// errFrozen is the error of new connections while the server is frozen.
var errFrozen = errors.New("the database server does not answer")

// freezeWatch detects a server that accepts connections and answers nothing, for example one that
// is stopped by a signal or waits for its disk. Without it a caller waits until its own deadline.
// If no statement of the pool gets a reply for some seconds and a new connection gets none either,
// the watch closes all connections, so their callers get an error that IsUnavailable recognises,
// and refuses new ones until the server answers again.
type freezeWatch struct {
	probe   func(ctx context.Context) error // makes a connection
	timeout time.Duration                   // of a probe
	log     *slog.Logger

	frozen  atomic.Bool
	replies atomic.Int64  // number of reads with a result
	idle    atomic.Bool   // run waits for begun
	begun   chan struct{} // a statement was sent while run was idle

	mu    sync.Mutex
	conns map[*watchedConn]bool

	stop chan struct{}
	once sync.Once
	done chan struct{}
}

// watchFreezes adds a freezeWatch to the pool that pc configures. The caller closes it.
func watchFreezes(pc *pgxpool.Config, log *slog.Logger) *freezeWatch {
	plain := pc.ConnConfig.Copy()
	hosts := 1 + len(otherHosts(plain))
	w := &freezeWatch{
		timeout: dialTimeout(hosts)*time.Duration(hosts-1) + 3*time.Second, log: log,
		conns: map[*watchedConn]bool{}, begun: make(chan struct{}, 1), stop: make(chan struct{}),
		done: make(chan struct{}), probe: func(ctx context.Context) error {
			conn, err := pgconn.ConnectConfig(ctx, &plain.Config)
			if err == nil {
				err = conn.Close(ctx)
			}
			return err
		},
	}
	dial := pc.ConnConfig.DialFunc
	pc.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.frozen.Load() {
			return nil, errFrozen
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return w.add(conn), nil
	}
	go w.run()
	return w
}

func (w *freezeWatch) close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

func (w *freezeWatch) add(conn net.Conn) *watchedConn {
	c := &watchedConn{Conn: conn, watch: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = true
	return c
}

// run checks the connections until close. Without statements it sleeps, so that an idle program
// wakes no processor.
func (w *freezeWatch) run() {
	defer close(w.done)
	next := time.NewTimer(silence)
	defer next.Stop()
	for {
		w.idle.Store(true)
		if !w.waits(0) {
			select {
			case <-w.stop:
				return
			case <-w.begun:
			}
		}
		w.idle.Store(false)
		seen, since := w.replies.Load(), time.Now()
		for pause := silence; pause == silence || w.frozen.Load() || w.waits(0); pause = checkEvery {
			next.Reset(pause)
			select {
			case <-w.stop:
				return
			case <-next.C:
			}
			if replies := w.replies.Load(); replies != seen {
				seen, since = replies, time.Now()
			}
			if w.check(seen, since) {
				since = time.Now() // a statement that runs long needs no check every time
			}
		}
	}
}

// check reports whether it asked the server. seen is the number of replies, since is when the last
// of them came.
func (w *freezeWatch) check(seen int64, since time.Time) bool {
	switch {
	case w.frozen.Load():
		if !w.silent() {
			w.frozen.Store(false)
			w.log.Info("database server answers again")
		}
	case time.Since(since) >= silence && w.waits(silence):
		if w.silent() && w.replies.Load() == seen {
			w.frozen.Store(true)
			w.log.Error("database server does not answer; requests are refused until it does")
			w.closeAll()
		}
	default:
		return false
	}
	return true
}

// waits reports whether a connection has waited for a reply for at least d.
func (w *freezeWatch) waits(d time.Duration) bool {
	limit := time.Now().Add(-d).UnixNano()
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		if at := c.waiting.Load(); at != 0 && at <= limit {
			return true
		}
	}
	return false
}

// silent reports whether a new connection gets no answer. A refused connection and an error of the
// server are answers.
func (w *freezeWatch) silent() bool {
	ctx, cancel := context.WithTimeout(context.Background(), w.timeout)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-w.stop:
			cancel()
		case <-ended:
		}
	}()
	err := w.probe(ctx)
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return false
	}
	var timeout net.Error
	return ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout()
}

func (w *freezeWatch) closeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Conn.Close() // its owner notices and closes it too
	}
}

// watchedConn is a connection of a pool that is watched.
type watchedConn struct {
	net.Conn
	watch   *freezeWatch
	waiting atomic.Int64 // time of the first write without a reply, in ns since 1970; 0 for none
}

func (c *watchedConn) Write(p []byte) (int, error) {
	if c.waiting.CompareAndSwap(0, time.Now().UnixNano()) && c.watch.idle.Load() {
		select {
		case c.watch.begun <- struct{}{}:
		default: // run is told already
		}
	}
	return c.Conn.Write(p)
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.waiting.Store(0)
		c.watch.replies.Add(1)
	}
	return n, err
}

func (c *watchedConn) Close() error {
	c.watch.mu.Lock()
	delete(c.watch.conns, c)
	c.watch.mu.Unlock()
	return c.Conn.Close()
}

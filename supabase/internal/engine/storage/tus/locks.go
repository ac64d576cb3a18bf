package tus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/storage/objects"
)

// channel is the NOTIFY channel on which replicas ask each other to release the lock of an upload.
const channel = "storage_tus_release"

// lockWait is how long a request waits for the lock of an upload, as in storage-api.
const lockWait = 5 * time.Second

var errLocked = errors.New("upload is locked")

// locker lets one request at a time write an upload, across all replicas. All locks of a process
// are advisory locks of one database session: uploads share one connection, and Postgres releases
// the locks if the process dies.
//
// A client may reconnect while its previous request still waits for bytes. The new request then
// asks the lock's holder to stop: directly in the same process, otherwise with NOTIFY.
type locker struct {
	pool *pgxpool.Pool
	log  *slog.Logger

	mu      sync.Mutex
	held    map[int64]context.CancelFunc // locks that this process holds or waits for
	wake    context.CancelFunc           // interrupts the wait for notifications
	queue   []func(context.Context, *pgx.Conn) error
	running bool
	closed  bool
	done    chan struct{}
}

func newLocker(pool *pgxpool.Pool, log *slog.Logger) *locker {
	return &locker{pool: pool, log: log, held: map[int64]context.CancelFunc{}}
}

// acquire waits for the lock on key. The returned context is canceled if another request asks for
// the upload or if the lock is lost. The caller must call release.
func (l *locker) acquire(ctx context.Context, key int64) (held context.Context, release func(), err error) {
	deadline := time.Now().Add(lockWait)
	for {
		held, release, err = l.try(ctx, key)
		if !errors.Is(err, errLocked) {
			return held, release, err
		}
		if time.Now().After(deadline) {
			return nil, nil, errLocked
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// try attempts to take the lock once. If another request holds it, try asks that request to stop
// and returns errLocked.
func (l *locker) try(ctx context.Context, key int64) (context.Context, func(), error) {
	held, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	if stop, mine := l.held[key]; mine {
		l.mu.Unlock()
		cancel()
		stop()
		return nil, nil, errLocked
	}
	l.held[key] = cancel
	l.mu.Unlock()

	got := false
	err := l.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if err := c.QueryRow(ctx, `select pg_try_advisory_lock($1)`, key).Scan(&got); err != nil || got {
			return err
		}
		_, err := c.Exec(ctx, `select pg_notify($1, $2::bigint::text)`, channel, key)
		return err
	})
	if err == nil && got {
		return held, func() { l.release(key, cancel) }, nil
	}
	if ctx.Err() != nil {
		// The request has ended, but the session may still take the lock. Release it before another
		// request of this process can ask for it.
		l.enqueue(func(ctx context.Context, c *pgx.Conn) error {
			if c == nil || !got {
				return nil
			}
			_, err := c.Exec(ctx, `select pg_advisory_unlock($1)`, key)
			return err
		})
	}
	l.forget(key)
	cancel()
	if err == nil {
		err = errLocked
	}
	return nil, nil, err
}

func (l *locker) release(key int64, cancel context.CancelFunc) {
	cancel()
	ctx, stop := context.WithTimeout(context.Background(), lockWait)
	defer stop()
	err := l.do(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `select pg_advisory_unlock($1)`, key)
		return err
	})
	if err != nil {
		l.log.Warn("storage: upload lock not released", "error", err)
	}
	l.forget(key)
}

func (l *locker) forget(key int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
}

// do runs fn on the session that holds the locks. It opens the session if necessary.
func (l *locker) do(ctx context.Context, fn func(context.Context, *pgx.Conn) error) error {
	result := make(chan error, 1)
	queued := l.enqueue(func(session context.Context, c *pgx.Conn) error {
		if c == nil {
			result <- fmt.Errorf("%w: connection of the upload locks lost", pool.ErrUnavailable)
			return nil
		}
		err := fn(session, c)
		result <- err
		return err
	})
	if !queued {
		return errors.New("storage is closing")
	}
	select {
	case err := <-result:
		return objects.MapDatabase(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueue queues job for the session. The job gets nil if there is no session. enqueue returns
// false, and drops the job, if the locker is closed.
func (l *locker) enqueue(job func(context.Context, *pgx.Conn) error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.queue = append(l.queue, job)
	if l.wake != nil {
		l.wake()
	}
	if !l.running {
		l.running, l.done = true, make(chan struct{})
		go l.run(l.done)
	}
	return true
}

// idleTimeout is how long the session stays open without a lock.
const idleTimeout = 30 * time.Second

// run owns the session. It runs the queued jobs and otherwise listens for notifications.
func (l *locker) run(done chan struct{}) {
	defer close(done)
	conn, err := l.open()
	if conn != nil {
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			conn.Close(ctx)
		}()
	}
	for err == nil {
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		if len(queue) == 0 && l.closed {
			l.running, l.wake = false, nil
			l.mu.Unlock()
			return
		}
		wait, wake := context.WithTimeout(context.Background(), idleTimeout)
		l.wake = wake
		l.mu.Unlock()

		for _, job := range queue {
			ctx, cancel := context.WithTimeout(context.Background(), lockWait)
			if err == nil {
				err = job(ctx, conn)
			} else {
				job(ctx, nil)
			}
			cancel()
		}
		if len(queue) == 0 {
			err = l.listen(wait, conn)
			if err == nil && l.stopIdle(wait) {
				wake()
				return
			}
		}
		wake()
	}
	l.fail(err)
}

// open takes a connection out of the pool permanently. The pool opens another one if it needs to.
func (l *locker) open() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	pooled, err := l.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	conn := pooled.Hijack()
	_, err = conn.Exec(ctx, `listen `+channel)
	return conn, err
}

// listen waits for a request to release a lock, until a job is queued or the time is up.
func (l *locker) listen(ctx context.Context, conn *pgx.Conn) error {
	n, err := conn.WaitForNotification(ctx)
	if err != nil {
		if ctx.Err() != nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	if n.PID == conn.PgConn().PID() {
		return nil // sent by this process; it may arrive after this process got the lock
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, stop := range l.held {
		if n.Payload == formatKey(key) {
			stop()
		}
	}
	return nil
}

// stopIdle reports whether the session can be closed because the wait timed out and no lock is
// held.
func (l *locker) stopIdle(waited context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(waited.Err(), context.DeadlineExceeded) || len(l.held) > 0 || len(l.queue) > 0 {
		return false
	}
	l.running, l.wake = false, nil
	return true
}

// fail stops all writers, because their locks were lost with the session.
func (l *locker) fail(err error) {
	l.log.Warn("storage: connection of the upload locks lost", "error", err)
	l.mu.Lock()
	queue := l.queue
	l.queue, l.running, l.wake = nil, false, nil
	for _, stop := range l.held {
		stop()
	}
	l.mu.Unlock()
	for _, job := range queue {
		job(context.Background(), nil)
	}
}

// close runs the queued jobs and closes the session.
func (l *locker) close() {
	l.mu.Lock()
	l.closed = true
	done := l.done
	if l.wake != nil {
		l.wake()
	}
	l.mu.Unlock()
	if done != nil {
		<-done
	}
}

// Package lead runs the workers of extensions in one process at a time, however
// many servers share a database. The process that holds an advisory lock leads.
//
// Only app, extension/cron and extension/pgnet import it.
package lead

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Key is the key of the advisory lock of the leader, in the database of the
// extensions. The function net._running of the extension pg_net looks for it.
const Key = 0x646161776f6578

// extensions is the channel on which the database announces that an extension
// was created or dropped.
const extensions = "daawo_extensions"

// Worker does the work of one extension.
type Worker interface {
	// Channel returns the channel whose notifications wake the worker.
	Channel() string
	// Run works until ctx ends. It never fails: it logs errors and tries again.
	Run(ctx context.Context, wake <-chan Wake)
}

// Wake tells a worker to look at its tables.
type Wake struct {
	Changed bool // an extension was created, changed or dropped, or a setting may have changed
}

// Options configure Run.
type Options struct {
	Connect func(context.Context) (*pgx.Conn, error) // as a superuser, to the database of the extensions
	Workers []Worker
	Log     *slog.Logger
	Retry   time.Duration // between attempts to lead or to connect; 0 means 3 s
}

// Run leads whenever no other process does, until ctx ends.
func Run(ctx context.Context, o Options) {
	o.Retry = cmp.Or(o.Retry, 3*time.Second)
	failed := false
	for ctx.Err() == nil {
		err := o.attempt(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			o.Log.Warn("extensions: no connection; retrying", "error", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(o.Retry):
		}
	}
}

// attempt connects, waits for the lock and leads. It returns the error that
// ended the connection.
func (o Options) attempt(ctx context.Context) error {
	conn, err := o.Connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	// Ask again and again: a statement that waits for the lock would keep VACUUM from removing
	// rows.
	for {
		var leads bool
		if err := conn.QueryRow(ctx, `select pg_try_advisory_lock($1)`, int64(Key)).Scan(&leads); err != nil {
			return err
		}
		if leads {
			return o.lead(ctx, conn)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.Retry):
		}
	}
}

// lead runs the workers until the connection that holds the lock ends.
func (o Options) lead(ctx context.Context, conn *pgx.Conn) error {
	for _, channel := range o.channels() {
		if _, err := conn.Exec(ctx, `listen `+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	wakes := make([]waker, len(o.Workers))
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i, w := range o.Workers {
		wakes[i] = newWaker()
		all.Go(func() { w.Run(working, wakes[i].out) })
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		o.dispatch(n, wakes)
	}
}

func (o Options) channels() []string {
	names := []string{extensions}
	for _, w := range o.Workers {
		names = append(names, w.Channel())
	}
	return names
}

func (o Options) dispatch(n *pgconn.Notification, wakes []waker) {
	for i, w := range o.Workers {
		if n.Channel == extensions || n.Channel == w.Channel() {
			wakes[i].send(Wake{Changed: n.Channel == extensions || n.Payload == "restart"})
		}
	}
}

// waker holds at most one pending Wake, so that a burst of notifications wakes a
// worker once.
type waker struct{ out chan Wake }

func newWaker() waker { return waker{make(chan Wake, 1)} }

// send has one caller at a time.
func (w waker) send(wake Wake) {
	select {
	case pending := <-w.out:
		wake.Changed = wake.Changed || pending.Changed
	default:
	}
	w.out <- wake
}

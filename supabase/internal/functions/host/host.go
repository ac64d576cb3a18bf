// Package host hosts edge functions for the gateway and the outbox. It verifies the caller, limits
// time, bodies and concurrency, gives every call its environment and turns failures into Supabase's
// replies. The same code runs in the stack's program and in a process of functions; the latter
// reaches the stack through Parent. If functions run elsewhere, the gateway sends the calls there.
package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"

	"github.com/jackc/pgx/v5"
)

// Options configure a Host. Only Functions is required. Without DB, Env.Tx and the methods that use
// the database fail.
type Options struct {
	Functions map[string]edge.Func

	DB     *pool.Pool // as a login role that can switch to service_role, anon and authenticated
	Outbox Outbox     // durable background work; nil rejects it

	// Verify checks a token's signature and times and returns its claims. nil rejects every token.
	Verify func(token string) (json.RawMessage, error)
	// APIKey returns the role token of an opaque key (sb_publishable_…, sb_secret_…) and whether
	// the key is known. It is nil if the gateway has replaced the key already.
	APIKey func(key string) (token string, ok bool)

	// CleanImage removes the metadata of a picture; nil accepts no picture. See
	// edge.Env.CleanImage.
	CleanImage func(content []byte) (clean []byte, contentType string, ok bool)

	// Operations are the operations of the stack that functions can run, by name; see
	// edge.Env.Operate.
	Operations map[string]func(context.Context) (any, error)
	Operators  []string // names of the functions that can run Operations, in this process or in a child

	Getenv func(name string) string // variables and secrets of the functions; nil means none
	Region string                   // for replies; "" means "local"
	// address of the client, "" for no limit; nil means the address of the connection
	Client func(r *http.Request) string
	Now    func() time.Time // nil means time.Now
	Log    *slog.Logger     // nil means slog.Default()
	// the stack's program, which forwards the calls; nil if this process is the stack's
	Parent *Parent
	Meter  Meter             // nil counts nothing
	Traces *tracing.Provider // nil makes no spans
	Drain  time.Duration     // how long Close waits for calls and background work; 0 means 10 s
	// how long a job waits for others of its name, see edge.Job.MaxConcurrent; 0 means 5 s
	JobWait time.Duration
}

// Outbox is the durable queue behind Env.Enqueue and Env.Notify. Add adds the statements that store
// the work to a batch. Package jobs implements it.
type Outbox interface {
	Add(b *pgx.Batch, w edge.Durable) error
}

// Host serves functions at /<name>/….
type Host struct {
	Options
	Registry
	services *services
	metrics  *metrics
	lifetime context.Context // of work given to WaitUntil
	end      context.CancelFunc
	work     sync.WaitGroup
}

// function is a hosted function with its state.
type function struct {
	edge.Func
	name    string
	gate    gate
	running map[string]chan struct{} // one value per running job, by the name of the job; only jobs with MaxConcurrent
}

// New returns a host. It must be closed.
func New(o Options) (*Host, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	o.Region = cmp.Or(o.Region, "local")
	if o.Client == nil {
		o.Client = connectionAddress
	}
	o.Drain = cmp.Or(o.Drain, 10*time.Second)
	o.JobWait = cmp.Or(o.JobWait, 5*time.Second)
	h := &Host{Options: o, metrics: newMetrics(o.Meter)}
	h.services = &services{host: h}
	h.lifetime, h.end = context.WithCancel(context.Background())
	if err := h.Registry.Replace(o.Functions); err != nil {
		h.end()
		return nil, err
	}
	return h, nil
}

// Close waits up to Drain for calls and background work and then cancels the rest.
func (h *Host) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.Drain)
	defer cancel()
	done := make(chan struct{})
	go func() {
		h.work.Wait()
		close(done)
	}()
	defer h.end()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("functions: background work was interrupted by the shutdown")
	}
}

// connectionAddress returns the address of the connection's peer.
func connectionAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

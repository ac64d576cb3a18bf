// Package fnhost hosts the edge functions: it checks who calls, bounds time, bodies and concurrency, gives every call its
// environment and turns failures into Supabase's replies. Functions run in this process, in a child process that is
// rebuilt when their source changes (dev.go), or elsewhere, where the gateway sends their calls.
//
// Only app and cli import it; of ours it imports db and functions/edge.
package fnhost

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/db"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// Options say what a Host needs. Only Functions is required; without DB, Env.Tx and what builds on it fail.
type Options struct {
	Functions map[string]edge.Func

	DB     *db.Pool // as a login role that may become service_role, anon and authenticated
	Outbox Outbox   // durable background work; nil refuses it

	// Verify checks a token's signature and times and returns its claims. nil refuses every token.
	Verify func(token string) (json.RawMessage, error)
	// APIKey gives the role token of an opaque key (sb_publishable_…, sb_secret_…) and whether it is known; nil where the
	// gateway has done that already.
	APIKey func(key string) (token string, ok bool)

	// CleanImage removes the metadata of a picture; nil refuses every picture. See edge.Env.CleanImage.
	CleanImage func(content []byte) (clean []byte, contentType string, ok bool)

	Getenv func(name string) string     // variables and secrets that functions see; nil means none
	Region string                       // named in replies; "" means "local"
	Client func(r *http.Request) string // address of the client, "" to not limit it; nil means the connection's own
	Now    func() time.Time             // nil means time.Now
	Log    *slog.Logger                 // nil means slog.Default()
	Meter  prometheus.Registerer        // nil registers no metrics
	Drain  time.Duration                // how long Close waits for calls and background work; 0 means 10 s
}

// Outbox is the durable queue behind Env.Enqueue and Env.Notify: Add adds to a batch the statements that store the work.
// Package outbox implements it.
type Outbox interface {
	Add(b *pgx.Batch, w edge.Durable) error
}

// Host serves functions. Its root is that of the functions service: /<name>/….
type Host struct {
	Options
	services  *services
	functions map[string]*function
	metrics   *metrics
	lifetime  context.Context // of background work
	end       context.CancelFunc
	work      sync.WaitGroup
}

// function is a hosted function with what it needs while it runs.
type function struct {
	edge.Func
	name    string
	gate    gate
	running map[string]chan struct{} // by job, those with a limit: holds one value per running job
}

// New makes a host. Close it.
func New(o Options) (*Host, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Region == "" {
		o.Region = "local"
	}
	if o.Client == nil {
		o.Client = connectionAddress
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Second
	}
	h := &Host{Options: o, functions: map[string]*function{}, metrics: newMetrics(o.Meter)}
	h.services = &services{host: h}
	h.lifetime, h.end = context.WithCancel(context.Background())
	for name, f := range o.Functions {
		f = f.WithDefaults()
		if err := check(name, f); err != nil {
			h.end()
			return nil, err
		}
		h.functions[name] = &function{Func: f, name: name, gate: newGate(f), running: jobLimits(f)}
	}
	return h, nil
}

// Close waits for calls and background work and then ends what is still running.
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
		return errors.New("functions: background work was cut off at shutdown")
	}
}

// connectionAddress is the network address at the other end.
func connectionAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

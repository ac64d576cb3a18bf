// Package realtime is a server of channels that is compatible with supabase/realtime: sockets with
// the messages of Phoenix, broadcast, presence, Postgres changes, and the HTTP API for broadcasts
// and tenants.
//
// A request travels down these files: http.go (routes), accept.go (handshake), socket.go (frames),
// channel.go and join.go (channels), broadcast.go, present.go and postgres.go (extensions), hub.go
// (delivery), queue.go (writing).
package realtime

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/realtime/bus"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/messages"
	"daawo/supabase/internal/engine/realtime/presence"
)

// Changes delivers changes of rows. *changes.Stream implements it.
type Changes interface {
	Subscribe(ctx context.Context, s changes.Subscriber) (id int64, err error)
	Unsubscribe(id int64)
	SetClaims(ctx context.Context, id int64, role string, claims map[string]any) error
	Hold() (release func())
	Wait(ctx context.Context) error
	AwaitVisible(ctx context.Context, xid uint32) error
	Lag() (bytes int64, at time.Time)
	Ready() error
}

// Messages authorizes private channels and reads stored broadcasts. *messages.Store implements it.
type Messages interface {
	CanRead(ctx context.Context, id messages.Identity, topic string, presence bool) (messages.Grant, error)
	CanWrite(ctx context.Context, id messages.Identity, topic string, presence bool) (messages.Grant, error)
	Replay(ctx context.Context, topic string, since time.Time, limit int) ([]messages.Message, error)
}

// Options configures an Engine.
type Options struct {
	Verify   func(token string) (*keys.Claims, error)
	Settings Settings
	Changes  Changes  // nil: subscriptions to Postgres changes get an error
	Messages Messages // nil: private channels get an error
	Bus      bus.Bus  // nil for a single replica; the Engine does not close it

	// VerifyAdmin checks the token of a request to the API of tenants and to /metrics; nil means
	// that they reply 404.
	VerifyAdmin func(token string) error
	Tenant      Tenant

	// ErrorDelay is how long an error reply to a handshake or join waits, to slow down clients that
	// retry at once.
	HandshakeErrorDelay, JoinErrorDelay time.Duration

	Registerer prometheus.Registerer // nil means no metrics
	Log        *slog.Logger          // nil means slog.Default()
	Now        func() time.Time      // nil means time.Now
}

// Tenant names the one tenant of this server in the API of tenants.
type Tenant struct {
	ID       string // external_id; "" means realtime-dev
	Database Database
}

// Database is shown in the API of tenants.
type Database struct {
	Host, Port, Name, User string
}

// Engine is a server of channels. It is safe for concurrent use.
type Engine struct {
	o        Options
	settings atomic.Pointer[Settings]
	routes   http.Handler
	hub      *hub
	presence *presence.Tracker
	metrics  *metrics
	claims   *lru.Cache[string, *claims]

	frames frames

	policyChanges atomic.Uint64 // how often channels have been checked again
	rechecks      chan struct{} // has an element per channel that checks its policies again

	joins, events, presenceEvents *rate
	clientJoins, clientKB         clientLimit
	incoming                      incoming
	replays                       changes.Turns

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wait   sync.WaitGroup // goroutines of the engine and of its sockets
	ids    atomic.Uint64  // of channels

	channelsMu sync.Mutex
	channels   int    // joined
	release    func() // of the changes, which broadcasts from the database need while there are channels

	mu      sync.Mutex
	sockets map[*socket]struct{}
	opening int // sockets whose handshake runs
	lines   lineSockets
	closed  bool
	started time.Time
}

// sweepEvery is how often the engine looks for expired tokens and silent clients.
const sweepEvery = time.Second

// knownTokens is how many tokens share their decoded claims.
const knownTokens = 4096

// New returns an Engine. Call Close when it is no longer needed.
func New(o Options) (*Engine, error) {
	if o.Verify == nil {
		return nil, errors.New("realtime: Options.Verify is required")
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tenant.ID == "" {
		o.Tenant.ID = "realtime-dev"
	}
	e := &Engine{o: o, sockets: map[*socket]struct{}{}, lines: lineSockets{}, hub: newHub(), started: o.Now(),
		rechecks: make(chan struct{}, maxRechecks)}
	settings := o.Settings.withDefaults()
	e.settings.Store(&settings)
	e.claims, _ = lru.New[string, *claims](knownTokens) // fails only for a size below 1
	limit := func(of func(*Settings) int) *rate {
		return newRate(o.Now, func() int { return of(e.settings.Load()) })
	}
	e.joins = limit(func(s *Settings) int { return s.MaxJoinsPerSecond })
	e.events = limit(func(s *Settings) int { return s.MaxEventsPerSecond })
	e.presenceEvents = limit(func(s *Settings) int { return s.MaxPresenceEventsPerSecond })
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.metrics = newMetrics(e)
	if o.Registerer != nil {
		if err := o.Registerer.Register(e.metrics); err != nil {
			return nil, err
		}
	}
	var err error
	if e.presence, err = presence.New(presence.Options{Bus: o.Bus, Log: o.Log, Now: o.Now,
		OnDiff: e.presenceDiff}); err != nil {
		return nil, err
	}
	if o.Bus != nil {
		if err := o.Bus.Subscribe(broadcastSubject, e.receiveBroadcast); err != nil {
			return nil, err
		}
	}
	e.routes = e.router()
	e.wait.Add(1)
	go e.sweepUntilClosed()
	return e, nil
}

// ServeHTTP serves the sockets below /socket and the HTTP API below /api.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.routes.ServeHTTP(w, r) }

// busConnected reports whether broadcasts and presences reach the other replicas. Without them the
// engine is degraded, but it serves its own clients.
func (e *Engine) busConnected() bool { return e.o.Bus == nil || e.o.Bus.Ready() == nil }

// connectionCount returns the number of open sockets.
func (e *Engine) connectionCount() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sockets)
}

// Close closes all sockets and waits for their goroutines, or until ctx ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	for _, s := range e.all() {
		s.goAway()
	}
	ended := make(chan struct{})
	go func() { e.wait.Wait(); close(ended) }()
	select {
	case <-ended:
		e.presence.Close()
		return nil
	case <-ctx.Done():
		for _, s := range e.all() {
			s.out.abort()
		}
		return errors.New("realtime: sockets did not close in time")
	}
}

// StandDown closes all sockets, because another server accepts the connections: the clients connect
// again. It does not wait.
func (e *Engine) StandDown() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	for _, s := range e.all() {
		s.goAway()
	}
}

// countChannel counts a joined (1) or left (-1) channel.
func (e *Engine) countChannel(n int) {
	e.metrics.channels.Add(float64(n))
	e.channelsMu.Lock()
	defer e.channelsMu.Unlock()
	e.channels += n
	switch {
	case e.o.Changes == nil:
	case e.channels > 0 && e.release == nil:
		e.release = e.o.Changes.Hold()
	case e.channels == 0 && e.release != nil:
		e.release()
		e.release = nil
	}
}

// all returns the open sockets.
func (e *Engine) all() []*socket {
	e.mu.Lock()
	defer e.mu.Unlock()
	sockets := make([]*socket, 0, len(e.sockets))
	for s := range e.sockets {
		sockets = append(sockets, s)
	}
	return sockets
}

func (e *Engine) sweepUntilClosed() {
	defer e.wait.Done()
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-ticker.C:
			e.sweep()
		}
	}
}

// sweep closes silent sockets and channels with expired tokens.
func (e *Engine) sweep() {
	now := e.o.Now()
	e.clientJoins.sweep(now)
	e.clientKB.sweep(now)
	for _, s := range e.all() {
		s.sweep(now)
	}
}

// Reverify closes the sockets and channels whose tokens or policies no longer allow them. Call it
// when keys have changed and when broadcasts from the database may have been missed.
func (e *Engine) Reverify() {
	now := e.o.Now()
	for _, s := range e.all() {
		s.reverify(now)
	}
	recheckPolicies(e, 0, e.hub.privateMembers)
}

// disconnectAll closes all sockets, as upstream does when a tenant is reloaded.
func (e *Engine) disconnectAll() {
	for _, s := range e.all() {
		for _, c := range s.all() {
			c.system("system", "ok", "Server requested disconnect")
		}
		s.goAway()
	}
}

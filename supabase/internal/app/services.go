package app

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/base/photo"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"
	"daawo/supabase/internal/gateway"
)

// services are the parts of a running stack that the gateway routes to. Each is an engine in this
// process or, if its URL is set, a proxy to an upstream service.
type services struct {
	installation.Installation
	front.Addresses
	sockets  *handover.Sockets
	replaces bool               // this process replaces another one, which serves until this one is ready
	db       *database.Database // nil if only the gateway runs
	pools    *pools
	began    time.Time // of the start
	traces   *tracing.Provider
	backups  backups
	logs     requestLogs

	auth, rest, storage, functions, realtime, meta http.Handler
	studio                                         http.Handler // nil if there is none

	keys    *keyring.Keyring
	inbox   string // address of the development inbox, "" if there is none
	smtp    mail.Server
	outbox  *jobs.Outbox
	journal *host.Journal // log lines of the functions
	control control.Functions
	metrics *observe.Metrics
	ready   map[string]observe.Check

	restStarted func() error // waits until the REST engine has read the schema
}

func (a *App) newServices(set keys.Set, d *database.Database, at front.Addresses) *services {
	return &services{
		Installation: a.Installation, Addresses: at, sockets: a.process.Sockets, replaces: a.process.Replaces(), db: d,
		pools: &a.pools, began: a.began, traces: a.traces, backups: a.backups, logs: a.logs,

		keys:    keyring.New(set, a.Now),
		journal: host.NewJournal(a.Log.Handler()),
		metrics: observe.NewMetrics(),
		ready:   map[string]observe.Check{},

		restStarted: func() error { return nil },
	}
}

// openServices starts the engines. Each has a separate connection pool, so that no engine can
// starve another.
func (a *App) openServices(ctx context.Context, d *database.Database, at front.Addresses) (*services, error) {
	set, err := keyring.Load(ctx, a.Config, a.Data)
	if err != nil {
		return nil, err
	}
	s := a.newServices(set, d, at)
	shareMetaKey(s)
	for _, open := range []func(context.Context) error{
		s.openMail, s.openOutbox, s.openREST, s.openAuth, s.openStorage, s.openRealtime, s.openFunctions, s.openMeta,
		s.openExtensions, s.openMetrics,
	} {
		if err := open(ctx); err != nil {
			return nil, errors.Join(err, s.restStarted())
		}
	}
	if err := s.restStarted(); err != nil {
		return nil, err
	}
	return s, nil
}

// gatewayOptions returns the options of a gateway in front of the services.
func (s *services) gatewayOptions(files http.Handler) gateway.Options {
	return gateway.Options{
		Auth: s.auth, REST: s.rest, Storage: s.storage, Functions: s.functions, Realtime: s.realtime, Meta: s.meta,
		Site: files, FormErrorPage: s.FormErrorPage,
		Keys: s.keys, Role: s.keys.Role, Proxies: s.Config.Proxies, HSTS: true,
		CleanBuckets: s.cleanBuckets(), CleanImage: photo.Scrub,
		Limits: limits(s.Config),
		Ready:  s.ready, Metrics: s.metrics, MetricsToken: s.Config.MetricsToken, Log: s.Log, LogRequests: s.Dev,
		MCP: s.studio, MCPKey: s.Config.MCPKey, Logs: s.logs.handler(s.keys), Record: s.logs.record(),
	}
}

// cleanBuckets returns the buckets of images with their limits from config.toml.
func (s *services) cleanBuckets() []gateway.CleanBucket {
	var buckets []gateway.CleanBucket
	for _, b := range s.CleanBuckets {
		most := int64(s.Config.Storage.FileSizeLimit)
		if own := int64(s.Config.Storage.Buckets[b.ID].FileSizeLimit); own > 0 && own < most {
			most = own
		}
		buckets = append(buckets, gateway.CleanBucket{ID: b.ID, MaxBytes: most, Refusal: b.Refusal,
			HideNames: b.HideNames, RefuseCopies: b.RefuseCopies})
	}
	return buckets
}

// limits returns the rate limits. On loopback there are none, because all clients are programs of
// this machine.
func limits(c *config.Config) gateway.Limits {
	if c.Loopback() {
		return gateway.Limits{Rate: -1, AuthRate: -1}
	}
	return gateway.Limits{}
}

func (s *services) publishableKey() string { return s.keys.Current().Publishable }

// upstreamWait is how long a request waits for a service that is still starting.
const upstreamWait = 15 * time.Second

// upstream stores a proxy to target in *to, unless target is "".
func upstream(in installation.Installation, target string, to *http.Handler) error {
	if target == "" {
		return nil
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	*to = gateway.Proxy(u, upstreamWait, in.Log)
	return nil
}

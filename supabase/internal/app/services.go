package app

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/gateway"
	"daawo/supabase/internal/observe"
)

// services are what the gateway stands in front of. Each is an engine in this process or, when its URL is given, the
// real one elsewhere.
type services struct {
	auth, rest, storage, functions, realtime, meta http.Handler

	keys           gateway.KeySet
	publishableKey func() string
	metrics        *observe.Metrics
	ready          map[string]observe.Check
}

// upstreamPatience is how long a request waits for a service that is still starting.
const upstreamPatience = 15 * time.Second

// openServices starts the engines.
func (a *App) openServices(ctx context.Context, d *database, address string) (*services, error) {
	s := &services{metrics: observe.NewMetrics(), ready: map[string]observe.Check{}}
	probe, err := db.Open(ctx, db.Config{URL: d.url("postgres"), MaxConns: 1, ApplicationName: "daawo-health", Log: a.log})
	if err != nil {
		return nil, err
	}
	a.onClose("health pool", func(context.Context) error { probe.Close(); return nil })
	s.ready["database"] = probe.Ping
	return s, nil
}

// upstream is the proxy to a service's URL, nil when none is given.
func (a *App) upstream(target string) (http.Handler, error) {
	if target == "" {
		return nil, nil
	}
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	return gateway.Proxy(u, upstreamPatience, a.log), nil
}

// gatewayOptions puts the services behind the routes.
func (s *services) gatewayOptions(a *App, files http.Handler) gateway.Options {
	return gateway.Options{
		Auth: s.auth, REST: s.rest, Storage: s.storage, Functions: s.functions, Realtime: s.realtime, Meta: s.meta,
		GraphQL: a.cfg.RESTURL != "",
		Site:    files,
		Keys:    s.keys, Proxies: a.cfg.Proxies, HSTS: true,
		Limits: limits(a.cfg),
		Ready:  s.ready, Metrics: s.metrics, MetricsToken: a.cfg.MetricsToken, Log: a.log,
	}
}

// limits are off for this machine's own programs: benchmarks, tests and scripts are not visitors.
func limits(c *config.Config) gateway.Limits {
	if c.Loopback() && len(c.Proxies) == 0 {
		return gateway.Limits{Rate: -1, AuthRate: -1}
	}
	return gateway.Limits{}
}

// describe lists what `status` prints.
func (a *App) describe(d *database, s *services, address string) Info {
	api := address
	values := []Value{
		{"SITE_URL", "Site", address},
		{"API_URL", "API", api},
		{"REST_URL", "", api + "/rest/v1"},
		{"AUTH_URL", "", api + "/auth/v1"},
		{"STORAGE_URL", "", api + "/storage/v1"},
		{"STORAGE_S3_URL", "S3", api + "/storage/v1/s3"},
		{"FUNCTIONS_URL", "Functions", api + "/functions/v1"},
		{"DB_URL", "Database", d.public()},
	}
	if a.cfg.StudioURL != "" {
		values = append(values, Value{"STUDIO_URL", "Studio", a.cfg.StudioURL})
	}
	return Info{Version: a.options.Version, Data: a.data, Values: values}
}

// Package gateway is the public port: the routes of the API with their keys and CORS, the site's files, and the limits
// that keep one client from harming the others. It gives each service a request rooted at the service's own root, with
// the headers that Supabase's gateway would add, whether the service runs in this process or elsewhere.
//
// Only app imports it. Of ours it imports observe; it knows services as http.Handler only.
package gateway

import (
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/observe"
)

// Options is what the gateway stands in front of. A service that is nil answers 404 and says so.
type Options struct {
	Auth, REST, Storage, Functions, Realtime, Meta http.Handler // rooted at the upstream's own root
	GraphQL                                        bool         // the database has pg_graphql
	Site                                           http.Handler // everything that is not an API

	Keys    KeySet
	Role    func(token string) string // of a token that this installation accepts, "" for others; nil knows none
	Proxies []netip.Prefix            // whose X-Forwarded-* headers are believed
	Limits  Limits                    // zero fields take defaults
	HSTS    bool                      // the site is reached by HTTPS only

	Ready        map[string]observe.Check
	Metrics      *observe.Metrics
	MetricsToken string
	Log          *slog.Logger
	LogRequests  bool // log every request to the API, in development; else those that fail or act as service_role
}

// gateway carries the options to the handlers.
type gateway struct {
	Options
	gatherer gatherer
}

// New makes the handler of the public port.
func New(o Options) http.Handler {
	o.Limits = o.Limits.withDefaults()
	if o.Metrics == nil {
		o.Metrics = observe.NewMetrics()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	g := &gateway{Options: o}
	g.gatherer.g, g.gatherer.of = g, map[string]int64{}

	r := chi.NewRouter()
	r.Method(http.MethodGet, "/healthz", observe.Live())
	r.Method(http.MethodGet, "/readyz", observe.Ready(o.Ready))

	auth := g.service("auth", "/auth/v1", o.Auth, o.Limits.AuthBody)
	for _, open := range []string{
		"/auth/v1/verify", "/auth/v1/callback", "/auth/v1/authorize", "/auth/v1/.well-known/jwks.json", "/auth/v1/sso/saml/*",
	} {
		r.Handle(open, auth(g.open))
	}
	// Applications that sign people in (OAuth 2.1) have no key of this installation: they prove themselves to auth.
	for _, open := range []string{
		"/auth/v1/.well-known/openid-configuration", "/auth/v1/.well-known/oauth-authorization-server",
		"/auth/v1/oauth/authorize", "/auth/v1/oauth/token", "/auth/v1/oauth/userinfo", "/auth/v1/oauth/clients/register",
	} {
		r.Handle(open, auth(asSent))
	}
	for _, place := range []string{"", "/auth/v1"} { // where RFC 8414, section 3.1, has it for an issuer with a path
		r.Handle("/.well-known/oauth-authorization-server"+place, auth(func(next http.Handler) http.Handler {
			return asSent(at("/auth/v1/.well-known/oauth-authorization-server", next))
		}))
	}
	g.mount(r, "/auth/v1", auth(g.withKey))

	rest := g.service("rest", "/rest/v1", o.REST, o.Limits.RESTBody)
	r.Handle("/rest/v1", rest(g.serviceKeyOnly)) // the OpenAPI description
	r.Handle("/rest/v1/", rest(g.serviceKeyOnly))
	r.Handle("/rest/v1/*", rest(g.withKey))

	graphql := g.service("graphql", "/graphql/v1", g.graphql(), o.Limits.RESTBody)
	g.mount(r, "/graphql/v1", graphql(g.withKey))
	g.mount(r, "/storage/v1", g.service("storage", "/storage/v1", o.Storage, 0)(g.storageKey))
	r.Handle("/functions/v1/_internal", g.cors(absent("_internal"))) // health and figures of the host, for its operator
	r.Handle("/functions/v1/_internal/*", g.cors(absent("_internal")))
	g.mount(r, "/functions/v1", g.service("functions", "/functions/v1", o.Functions, 0)(g.functionsKey))
	g.mount(r, "/pg", g.service("meta", "/pg", o.Meta, o.Limits.RESTBody)(g.serviceKeyOnly))
	g.mount(r, "/realtime/v1", g.service("realtime", "/realtime/v1", realtimePaths(o.Realtime), o.Limits.RESTBody)(g.realtimeKey))

	r.NotFound(g.site().ServeHTTP)
	return g.observed(g.secured(g.operators(g.sanitised(r))))
}

// operators answers /metrics before the request is changed: whether somebody else sent it through a proxy on this machine
// is seen from the forwarding headers that came, and every request gets such headers later.
func (g *gateway) operators(next http.Handler) http.Handler {
	metrics := g.Metrics.Handler(g.MetricsToken)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			metrics.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mount routes a prefix with and without what follows it.
func (g *gateway) mount(r chi.Router, prefix string, h http.Handler) {
	r.Handle(prefix, h)
	r.Handle(prefix+"/*", h)
}

// service prepares the handlers of one service: CORS and the rate outside, then the rule about keys, the body, a place among
// those that are served, and the prefix off.
func (g *gateway) service(name, prefix string, h http.Handler, body int64) func(rule func(http.Handler) http.Handler) http.Handler {
	if h == nil {
		return func(func(http.Handler) http.Handler) http.Handler {
			return g.cors(absent(name))
		}
	}
	inner := g.concurrent(name)(stripped(prefix, h))
	if name != "storage" && name != "realtime" { // files stream to the disk, and sockets have no body
		inner = g.gatherer.before(inner)
	}
	rated := g.rated(name)
	return func(rule func(http.Handler) http.Handler) http.Handler {
		return measured(name, g.cors(rated(rule(g.noticed(sized(body, inner))))))
	}
}

// absent answers for a service that this installation does not have.
func absent(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "The service "+name+" is not part of this installation.")
	})
}

// at answers a request as if it had been for another path.
func at(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := r.Clone(r.Context())
		r2.URL.Path, r2.URL.RawPath = path, ""
		next.ServeHTTP(w, r2)
	})
}

// stripped takes the public prefix off the path and says so in X-Forwarded-Prefix.
func stripped(prefix string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := new(http.Request)
		*r2 = *r
		r2.URL = new(url.URL)
		*r2.URL = *r.URL
		r2.URL.Path = rooted(strings.TrimPrefix(r.URL.Path, prefix))
		if r.URL.RawPath != "" {
			r2.URL.RawPath = rooted(strings.TrimPrefix(r.URL.RawPath, prefix))
		}
		r2.Header.Set("X-Forwarded-Prefix", prefix)
		h.ServeHTTP(w, r2)
	})
}

func rooted(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// graphql reaches pg_graphql through REST. Without the extension there is nothing to reach.
func (g *gateway) graphql() http.Handler {
	if g.REST == nil || !g.GraphQL {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawPath = "/rpc/graphql", ""
		r.Header.Set("Content-Profile", "graphql_public")
		g.REST.ServeHTTP(w, r)
	})
}

// realtimePaths maps the public paths to Realtime's: its HTTP API is below /api, its sockets below /socket.
func realtimePaths(h http.Handler) http.Handler {
	if h == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api" && !strings.HasPrefix(r.URL.Path, "/api/") {
			r.URL.Path, r.URL.RawPath = "/socket"+r.URL.Path, ""
		}
		h.ServeHTTP(w, r)
	})
}

// site serves everything else.
func (g *gateway) site() http.Handler {
	if g.Site == nil {
		return measured("site", http.NotFoundHandler())
	}
	return measured("site", g.Site)
}

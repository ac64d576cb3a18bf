// Package gateway is the HTTP handler and the listener of the public port: API keys, CORS, security
// headers and limits of the API's services, and the site's files. Each service gets requests rooted
// at its own root, with the headers that Supabase's gateway adds, whether it runs in this process
// or elsewhere. services.go has the table of services.
package gateway

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/go-chi/chi/v5"

	"daawo/supabase/internal/base/observe"
)

// Options configures the gateway. It answers 404 for a service that is nil.
type Options struct {
	Auth, REST, Storage, Functions, Realtime, Meta http.Handler // rooted at the upstream's own root
	Logs                                           http.Handler // Logflare's endpoints; checks its callers' key itself
	MCP                                            http.Handler // Studio's MCP server
	MCPKey                                         string       // of its clients; without it there is none
	Site                                           http.Handler // for all paths outside the API
	// HTML reply if a form post to a function fails in the gateway; nil means a default
	FormErrorPage []byte

	// buckets of images without metadata
	CleanBuckets []CleanBucket
	// removes the metadata; required with CleanBuckets
	CleanImage func(content []byte) (clean []byte, contentType string, err error)

	Keys    KeySet
	Role    func(token string) string // returns the role of a valid token, "" for others; nil means no token is valid
	Proxies []netip.Prefix            // proxies with trusted X-Forwarded-* headers
	Limits  Limits                    // zero fields take defaults
	HSTS    bool                      // send Strict-Transport-Security over HTTPS

	Ready        map[string]observe.Check
	Metrics      *observe.Metrics
	MetricsToken string
	Log          *slog.Logger
	Record       func(Request) // gets each request of the API; nil for none
	LogRequests  bool          // for development: log all API requests; otherwise only failed ones and service_role's
}

// gateway is what the handlers share.
type gateway struct {
	Options
	proxies  trustedProxies
	bodies   *bodyBuffer
	services []*service
}

// New returns the handler of the public port.
//
// Keep the frames of its layers small: net/http needs most of 8 KB to write the header of a reply,
// and a stack that grows to 16 KB stays that size while a slow client blocks. Move work with many
// variables into another function.
func New(o Options) http.Handler {
	o.Limits = o.Limits.withDefaults()
	if o.Metrics == nil {
		o.Metrics = observe.NewMetrics()
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.FormErrorPage == nil {
		o.FormErrorPage = []byte(defaultFormErrorPage)
	}
	if o.Site == nil {
		o.Site = http.NotFoundHandler()
	}
	g := &gateway{Options: o, proxies: o.Proxies, bodies: newBodyBuffer(o.Log)}
	g.services = g.table()

	r := chi.NewRouter()
	r.Method(http.MethodGet, "/healthz", observe.Live())
	r.Method(http.MethodGet, "/readyz", observe.Ready(o.Ready))
	for _, s := range g.services {
		g.mount(r, s)
	}
	r.NotFound(g.serve(siteService, g.Site))
	return g.observe(g.limitForwarded(g.metrics(g.sanitise(r))))
}

// metrics serves /metrics before sanitise changes the request. The handler must see which
// forwarding headers the request came with, to tell local programs from clients behind a local
// proxy.
func (g *gateway) metrics(next http.HandlerFunc) http.HandlerFunc {
	metrics := g.Metrics.Handler(g.MetricsToken)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			metrics.ServeHTTP(w, r)
			return
		}
		next(w, r)
	}
}

package gateway

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
)

// service is one row of the table of services: all that the gateway does differently for it.
type service struct {
	name    string       // in logs, metrics and the reply of a missing service
	prefix  string       // of its public paths; the service sees the rest of the path
	handler http.Handler // nil if the installation does not have the service
	key     keyRule      // for requests below prefix
	routes  []route      // paths with another keyRule

	rate     int   // requests of one address per rateWindow; negative means no limit
	inFlight int   // requests served at once; 0 leaves the limit to the service
	maxBody  int64 // bytes of a request body; 0 leaves the limit to the service
	buffer   bool  // read the request body before calling the service

	rawPaths    bool // leave the path below prefix as the client sent it
	formErrors  bool // answer a form post that fails with Options.FormErrorPage
	logSegments int  // segments of the path in the log; 0 means all
	logRequests bool // log all requests if Options.LogRequests is set
	noPages     bool // refuse requests of pages, even with a key: the keys of local installations are well known

	contentPolicy  string // default Content-Security-Policy
	resourcePolicy string // default Cross-Origin-Resource-Policy
}

// keyRule wraps a handler in a check of the request's API key.
type keyRule func(http.Handler) http.Handler

type route struct {
	pattern string // of chi, absolute
	key     keyRule
}

// Defaults of contentPolicy and resourcePolicy. All services share the site's origin, so an
// uploaded document must not run scripts there: the policy puts it in a sandbox.
const (
	sandboxPolicy  = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
	functionPolicy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"
	anyOrigin = "cross-origin"
	ownOrigin = "same-origin"
)

// gatewayItself is the service of replies that no service gave.
var gatewayItself = &service{name: "gateway", logRequests: true, contentPolicy: sandboxPolicy,
	resourcePolicy: anyOrigin}

// siteService is the service of paths outside the table.
var siteService = &service{name: "site", contentPolicy: sandboxPolicy, resourcePolicy: ownOrigin}

// table returns the API's services. The first row with a matching prefix names the service in the
// metrics.
func (g *gateway) table() []*service {
	limits := g.Limits
	rows := []*service{
		{
			name: "auth", prefix: "/auth/v1", handler: g.Auth, key: g.requireKeyOfAuth, routes: g.authRoutes(),
			rate: limits.AuthRate, inFlight: limits.InFlight, maxBody: limits.AuthBody, buffer: true,
		}, {
			name: "rest", prefix: "/rest/v1", handler: g.REST, key: g.requireKey,
			// the OpenAPI description
			routes: []route{{"/rest/v1", g.requireServiceKey}, {"/rest/v1/", g.requireServiceKey}},
			rate:   limits.Rate, inFlight: limits.InFlight, maxBody: limits.RESTBody, buffer: true,
		}, {
			name: "graphql", prefix: "/graphql/v1", handler: g.graphql(), key: g.requireKey,
			rate: limits.Rate, inFlight: limits.InFlight, maxBody: limits.RESTBody, buffer: true,
		}, {
			// Storage writes uploads to disk as they arrive. Object names may have empty segments
			// and encoded slashes, and S3 clients sign the path, so storage gets the path as sent
			// and refuses traversal itself. The log omits file names, which clients choose.
			name: "storage", prefix: "/storage/v1", handler: g.cleanUploads(), key: g.storageKey,
			rate: limits.Rate, inFlight: limits.InFlight, rawPaths: true, logSegments: 4,
		}, {
			// The host of the functions limits each function by itself, so that one function's load
			// does not affect others.
			name: "functions", prefix: "/functions/v1", handler: g.Functions, key: g.functionsKey,
			rate: limits.Rate, buffer: true, formErrors: true, contentPolicy: functionPolicy,
		}, {
			name: "_internal", prefix: "/functions/v1/_internal", // the host's health and metrics are not public
		}, {
			name: "meta", prefix: "/pg", handler: g.Meta, key: g.requireOperatorKey, noPages: true,
			rate: limits.Rate, inFlight: limits.InFlight, maxBody: limits.RESTBody, buffer: true,
		}, {
			name: "analytics", prefix: "/analytics/v1", handler: g.Logs, key: noKey, noPages: true,
			rate: limits.Rate, inFlight: limits.InFlight, maxBody: limits.RESTBody,
		}, {
			name: "mcp", prefix: "/mcp", handler: g.mcp(), key: g.mcpKey, noPages: true,
			rate: limits.Rate, inFlight: limits.InFlight, maxBody: limits.RESTBody,
		}, {
			// Sockets stay open for hours and have no body. Realtime limits them itself.
			name: "realtime", prefix: "/realtime/v1", handler: realtimePaths(g.Realtime), key: g.realtimeKey,
			rate: limits.Rate, maxBody: limits.RESTBody,
		},
	}
	for _, s := range rows {
		s.logRequests, s.resourcePolicy = true, anyOrigin
		s.contentPolicy = cmp.Or(s.contentPolicy, sandboxPolicy)
	}
	return rows
}

// authRoutes returns the paths of auth that do not require a key.
func (g *gateway) authRoutes() []route {
	const metadata = "/auth/v1/.well-known/oauth-authorization-server"
	var routes []route
	for _, path := range []string{
		"/auth/v1/verify", "/auth/v1/callback", "/auth/v1/authorize", "/auth/v1/.well-known/jwks.json",
		"/auth/v1/sso/saml/*",
	} {
		routes = append(routes, route{path, g.optionalKey})
	}
	// OAuth 2.1 clients have no API key. They authenticate to auth themselves.
	for _, path := range []string{
		"/auth/v1/.well-known/openid-configuration", metadata,
		"/auth/v1/oauth/authorize", "/auth/v1/oauth/token", "/auth/v1/oauth/userinfo",
		"/auth/v1/oauth/clients/register",
	} {
		routes = append(routes, route{path, noKey})
	}
	// RFC 8414, section 3.1, inserts the well-known path before the issuer's path.
	for _, path := range []string{"/.well-known/oauth-authorization-server",
		"/.well-known/oauth-authorization-server/auth/v1"} {
		routes = append(routes, route{path,
			func(next http.Handler) http.Handler { return rewritePath(metadata, next) }})
	}
	return routes
}

// serviceAt returns the service of a path as the client sent it.
func (g *gateway) serviceAt(path string) *service {
	for _, s := range g.services {
		if rest, ok := strings.CutPrefix(path, s.prefix); ok && (rest == "" || rest[0] == '/') {
			return s
		}
	}
	return siteService
}

// mount adds the routes of a service.
func (g *gateway) mount(r chi.Router, s *service) {
	handle := g.chain(s)
	r.Handle(s.prefix, handle(s.key))
	r.Handle(s.prefix+"/*", handle(s.key))
	for _, route := range s.routes {
		r.Handle(route.pattern, handle(route.key))
	}
}

// chain returns a function that puts a service's handler behind a keyRule and all that the table
// says about the service.
func (g *gateway) chain(s *service) func(keyRule) http.Handler {
	if s.handler == nil {
		missing := cors(notInstalled(s.name))
		return func(keyRule) http.Handler { return missing }
	}
	inner := limitInFlight(s.inFlight, stripPrefix(s.prefix, s.handler))
	if s.buffer {
		inner = unlessTooLong(s.handler, inner, g.bodies.before(inner))
	}
	inner = g.audit(limitBody(s.maxBody, inner))
	rated := limitRate(s.rate)
	return func(key keyRule) http.Handler {
		if s.noPages {
			return g.serve(s, rated(noPages(key(inner))))
		}
		return g.serve(s, cors(rated(key(inner))))
	}
}

// bodyLimiter is a service that knows the largest body of a path in bytes; 0 means unknown.
type bodyLimiter interface{ MaxBody(path string) int64 }

// unlessTooLong returns whole, but calls the service at once for a body that is declared longer
// than the service accepts. So the service refuses it before the client sends it (Expect:
// 100-continue).
func unlessTooLong(service http.Handler, direct, whole http.Handler) http.Handler {
	limiter, ok := service.(bodyLimiter)
	if !ok {
		return whole
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Path, "/v1/")
		if limit := limiter.MaxBody("/" + path); limit > 0 && r.ContentLength > limit {
			direct.ServeHTTP(w, r)
			return
		}
		whole.ServeHTTP(w, r)
	})
}

// serve records in the reply which service answers.
func (g *gateway) serve(s *service, next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.record(s, w, r)
		next.ServeHTTP(w, r)
	}
}

func (g *gateway) record(s *service, w http.ResponseWriter, r *http.Request) {
	re, ok := w.(*reply)
	if !ok {
		return
	}
	re.service = s
	if s.formErrors && isFormPost(r) {
		re.formErrorPage = g.FormErrorPage
	}
}

// notInstalled answers for a service that the installation does not have.
func notInstalled(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusNotFound, "The service "+name+" is not part of this installation.")
	})
}

// rewritePath serves a request as a request for another path.
func rewritePath(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := r.Clone(r.Context())
		r2.URL.Path, r2.URL.RawPath = path, ""
		next.ServeHTTP(w, r2)
	})
}

// stripPrefix removes the public prefix from the path and puts it in X-Forwarded-Prefix.
func stripPrefix(prefix string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := new(http.Request)
		*r2 = *r
		r2.URL = new(url.URL)
		*r2.URL = *r.URL
		r2.URL.Path = orRoot(strings.TrimPrefix(r.URL.Path, prefix))
		if r.URL.RawPath != "" {
			r2.URL.RawPath = orRoot(strings.TrimPrefix(r.URL.RawPath, prefix))
		}
		r2.Header.Set("X-Forwarded-Prefix", prefix)
		h.ServeHTTP(w, r2)
	})
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// noGraphQL is the reply without pg_graphql, as an error of GraphQL, which its clients show.
const noGraphQL = `{"data":null,"errors":[{"message":"GraphQL needs the extension pg_graphql, which this database does ` +
	`not have. Use Supabase's Postgres (daawo postgres add), or name another one that has it in DATABASE_URL."}]}`

// graphql calls pg_graphql through REST. It returns nil without REST.
func (g *gateway) graphql() http.Handler {
	if g.REST == nil {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawPath = "/rpc/graphql", ""
		r.Header.Set("Content-Profile", "graphql_public")
		g.REST.ServeHTTP(&graphqlReply{ResponseWriter: w}, r)
	})
}

// graphqlReply replaces the error of REST that the function of pg_graphql does not exist.
type graphqlReply struct {
	http.ResponseWriter
	missing bool
}

// Unwrap is for http.ResponseController.
func (w *graphqlReply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader is part of http.ResponseWriter.
func (w *graphqlReply) WriteHeader(status int) {
	if status != http.StatusNotFound || w.missing {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.missing = true
	h := w.Header()
	h.Del("Content-Encoding")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(noGraphQL)))
	w.ResponseWriter.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w.ResponseWriter, noGraphQL) // the client may have disconnected
}

// Write is part of http.ResponseWriter.
func (w *graphqlReply) Write(p []byte) (int, error) {
	if w.missing {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// realtimePaths maps the public paths to Realtime's: its HTTP API is below /api, its sockets below
// /socket.
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

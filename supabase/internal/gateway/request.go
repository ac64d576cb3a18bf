package gateway

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"daawo/supabase/internal/base/observe"
)

// statusClientClosed is the status of a request that its client or service aborted. A client that
// ended only its side of the connection reads it: net/http cancels that request too.
const statusClientClosed = 499

// observe is the outermost layer: it gives the request an id, measures and logs it, and answers a
// panic with 500.
func (g *gateway) observe(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w, r, id := g.begin(rw, r)
		began := time.Now()
		done := g.Metrics.Begin(g.serviceAt(r.URL.Path).name, r.Method)
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					done(statusClientClosed)
					if w.privilege != "" { // the client has read part of the reply
						g.log(r, w)
					}
					panic(p)
				}
				g.Log.ErrorContext(r.Context(), "handler panicked", "service", w.service.name, "panic", p)
				if w.status != 0 { // abort, so that the client does not take a partial reply for a whole one
					done(http.StatusInternalServerError)
					panic(http.ErrAbortHandler)
				}
				writeError(w, http.StatusInternalServerError, "Something went wrong. It has been logged as "+id+".")
			}
			w.extendDeadline() // for the buffered rest of the reply
			done(w.status)
			g.log(r, w)
			g.keep(r, w, id, began)
		}()
		next(w, r)
		switch {
		case w.status == 0 && w.left():
			w.WriteHeader(statusClientClosed)
		case w.status == 0:
			w.WriteHeader(http.StatusOK)
		}
	})
}

// begin returns the reply to a request, the request with its id, and that id.
func (g *gateway) begin(rw http.ResponseWriter, r *http.Request) (w *reply, own *http.Request, id string) {
	control := http.NewResponseController(rw)
	w = &reply{ResponseWriter: rw, control: control, service: gatewayItself, stall: g.Limits.Stall,
		cancelled: r.Context().Done()}
	g.secureHeaders(w)
	if r.Body != nil && r.Body != http.NoBody {
		// A copy, because net/http looks at the body of its own request to find out whether the
		// client still waits for "100 Continue".
		r = r.WithContext(r.Context())
		w.body = &pacedBody{ReadCloser: r.Body, reply: w, stall: g.Limits.Stall, minRate: g.Limits.MinRate}
		r.Body = w.body
	}
	id = rand.Text()[:16]
	if given := r.Header.Get("X-Request-Id"); given != "" && g.proxies.trustPeer(r) && len(given) <= 64 {
		id = given
	}
	r.Header.Set("X-Request-Id", id)
	rw.Header().Set("X-Request-Id", id)
	return w, r.WithContext(observe.WithRequestID(r.Context(), id)), id
}

// Request is what Options.Record gets of a request: nothing that the client wrote freely.
type Request struct {
	ID, Service, Method string
	Path                string // without what names objects or users
	Status              int
	Began               time.Time
	Took                time.Duration
}

// keep passes a request to Options.Record.
func (g *gateway) keep(r *http.Request, w *reply, id string, began time.Time) {
	if g.Record == nil || !w.service.logRequests || w.service == gatewayItself {
		return
	}
	g.Record(Request{ID: id, Service: w.service.name, Method: r.Method, Path: keptPath(w.service, r.URL.Path),
		Status: w.status, Began: began, Took: time.Since(began)})
}

// keptPath returns the first segments of a path: those that name a route, a table or a function. A
// segment that is no plain name is left out.
func keptPath(s *service, p string) string {
	parts := strings.Split(p, "/") // the first is empty
	most := 5
	if s.name == "functions" {
		most = 4
	}
	parts = parts[:min(len(parts), most)]
	for i, part := range parts {
		uuid := len(part) == 36 && strings.Count(part, "-") == 4 // such as a second factor's
		if uuid || len(part) > 63 || strings.Trim(part, plainBytes) != "" {
			parts[i] = "…"
		}
	}
	return strings.Join(parts, "/")
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// log logs a request: at info level in development and for privileged requests, at debug level
// otherwise.
func (g *gateway) log(r *http.Request, w *reply) {
	level := slog.LevelDebug
	switch {
	case w.status >= 500:
		level = slog.LevelWarn
	case g.LogRequests && w.service.logRequests, w.privilege == serviceRole, w.privilege == mcpPrivilege,
		w.privilege == s3Signature && w.status < 400:
		level = slog.LevelInfo
	}
	if !g.Log.Enabled(r.Context(), level) {
		return
	}
	fields := append(make([]slog.Attr, 0, 5), slog.String("service", w.service.name), slog.String("method", r.Method),
		slog.String("path", w.service.logPath(r.URL.Path)), slog.Int("status", w.status))
	if w.privilege != "" {
		fields = append(fields, slog.String("privilege", w.privilege))
	}
	g.Log.LogAttrs(r.Context(), level, "request", fields...)
}

// logPath returns the part of a path that the log shows.
func (s *service) logPath(p string) string {
	if s.logSegments == 0 {
		return p
	}
	parts := strings.Split(p, "/") // the first is empty
	return strings.Join(parts[:min(len(parts), s.logSegments+1)], "/")
}

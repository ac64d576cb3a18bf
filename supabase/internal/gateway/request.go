package gateway

import (
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"

	"daawo/supabase/internal/observe"
)

// observed is the outermost layer: it numbers the request, counts and logs it, and turns a panic into a 500.
func (g *gateway) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(rw)
		w := &reply{ResponseWriter: rw, control: control, service: "gateway", stall: g.Limits.Stall}
		if r.Body != nil && r.Body != http.NoBody {
			w.body = &pacedBody{ReadCloser: r.Body, to: w, stall: g.Limits.Stall, minRate: g.Limits.MinRate}
			r.Body = w.body
		}
		id := rand.Text()[:16]
		if given := r.Header.Get("X-Request-Id"); given != "" && g.trusted(r) && len(given) <= 64 {
			id = given
		}
		r.Header.Set("X-Request-Id", id)
		rw.Header().Set("X-Request-Id", id)
		r = r.WithContext(observe.WithRequestID(r.Context(), id))

		done := g.Metrics.Begin(serviceOf(r.URL.Path), r.Method)
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					done(499)
					if w.as != "" { // whoever hangs up has read what came before
						g.log(r, w)
					}
					panic(p)
				}
				g.Log.ErrorContext(r.Context(), "a handler panicked", "service", w.service, "panic", p)
				if w.status != 0 { // half a reply must not look like a whole one
					done(http.StatusInternalServerError)
					panic(http.ErrAbortHandler)
				}
				writeError(w, http.StatusInternalServerError, "Something went wrong. It has been logged as "+id+".")
			}
			w.extend() // what is still buffered goes out now
			done(w.status)
			g.log(r, w)
		}()
		next.ServeHTTP(w, r)
		if w.status == 0 {
			w.WriteHeader(http.StatusOK)
		}
	})
}

// log writes the line about a request. Of those that end well only the ones of --dev and the powerful ones are seen.
func (g *gateway) log(r *http.Request, w *reply) {
	fields := []any{"service", w.service, "method", r.Method, "path", loggedPath(w.service, r.URL.Path), "status", w.status}
	if w.as != "" {
		fields = append(fields, "as", w.as)
	}
	level := slog.LevelDebug
	switch {
	case w.status >= 500:
		level = slog.LevelWarn
	case g.LogRequests && w.service != "site", w.as == serviceRole, w.as == bySignature && w.status < 400:
		level = slog.LevelInfo
	}
	g.Log.Log(r.Context(), level, "request", fields...)
}

// loggedPath leaves out names of files: a visitor chose them.
func loggedPath(service, p string) string {
	if service != "storage" {
		return p
	}
	parts := strings.SplitN(p, "/", 6)
	return strings.Join(parts[:min(len(parts), 5)], "/")
}

// serviceOf names the service of a path for the metrics.
func serviceOf(p string) string {
	for _, name := range []string{"auth", "rest", "graphql", "storage", "functions", "realtime"} {
		if strings.HasPrefix(p, "/"+name+"/v1") {
			return name
		}
	}
	if strings.HasPrefix(p, "/pg/") {
		return "meta"
	}
	return "site"
}

// measured tells the log which service answered.
func measured(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if re, ok := w.(*reply); ok {
			re.service, re.page = name, name == "functions" && readsPages(r)
		}
		next.ServeHTTP(w, r)
	})
}

// sanitised refuses what two parsers may read differently and makes the rest unambiguous: one spelling of the path, no
// forwarding header that a trusted proxy did not send.
func (g *gateway) sanitised(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean, ok := normalise(r.URL)
		if !ok {
			plain(w, http.StatusBadRequest, "Bad Request")
			return
		}
		r.URL = clean
		for name := range r.Header {
			if strings.Contains(name, "_") {
				plain(w, http.StatusBadRequest, "Bad Request")
				return
			}
		}
		g.forwarded(r)
		if re, ok := w.(*reply); ok {
			re.https = r.Header.Get("X-Forwarded-Proto") == "https"
		}
		next.ServeHTTP(w, r)
	})
}

// normalise resolves dot segments, doubled slashes and characters that need no encoding (RFC 3986, section 6.2.2) in the
// path as it was sent, so that a route has no second spelling. A path with an encoded slash, backslash or control character
// is refused: services would disagree about it.
func normalise(u *url.URL) (*url.URL, bool) {
	sent := u.EscapedPath()
	if !strings.HasPrefix(sent, "/") {
		return nil, false
	}
	lower := strings.ToLower(sent)
	for _, refused := range []string{"%2f", "%5c", "\\", "%00", "%0a", "%0d"} {
		if strings.Contains(lower, refused) {
			return nil, false
		}
	}
	plain := unencoded(sent)
	clean := path.Clean(plain)
	if strings.HasSuffix(plain, "/") && clean != "/" {
		clean += "/"
	}
	if clean == sent {
		return u, true
	}
	decoded, err := url.PathUnescape(clean)
	if err != nil {
		return nil, false
	}
	out := *u
	out.Path, out.RawPath = decoded, ""
	if out.EscapedPath() != clean {
		out.RawPath = clean
	}
	return &out, true
}

// unencoded decodes the characters that RFC 3986 calls unreserved.
func unencoded(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil && unreserved(byte(c)) {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// trusted says whether the peer is a proxy whose headers are believed.
func (g *gateway) trusted(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, p := range g.Proxies {
		if p.Contains(addr.Addr().Unmap()) {
			return true
		}
	}
	return false
}

// forwarded sets the X-Forwarded-* headers from what is known of the client. RemoteAddr becomes the client's address.
func (g *gateway) forwarded(r *http.Request) {
	proto, host := "http", r.Host
	if r.TLS != nil {
		proto = "https"
	}
	port := ""
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		_, port, _ = net.SplitHostPort(local.String()) // "" when it has no port
	}
	if g.trusted(r) {
		if p := r.Header.Get("X-Forwarded-Proto"); p == "http" || p == "https" {
			proto = p
			port = map[string]string{"http": "80", "https": "443"}[p]
		}
		if h := r.Header.Get("X-Forwarded-Host"); h != "" {
			host = h
		}
		if p := r.Header.Get("X-Forwarded-Port"); p != "" {
			port = p
		}
		if client := g.clientOf(r.Header.Values("X-Forwarded-For")); client.IsValid() {
			r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
		}
	}
	for _, name := range []string{"Forwarded", "X-Real-Ip", "True-Client-Ip", "X-Forwarded-For", "X-Forwarded-Prefix", "X-Original-Url", "X-Rewrite-Url"} {
		r.Header.Del(name)
	}
	if client, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		r.Header.Set("X-Forwarded-For", client)
	}
	r.Header.Set("X-Forwarded-Proto", proto)
	r.Header.Set("X-Forwarded-Host", host)
	r.Header.Set("X-Forwarded-Port", port)
}

// clientOf walks the chain of proxies from the nearest one and stops at the first that is not trusted.
func (g *gateway) clientOf(headers []string) netip.Addr {
	hops := strings.Split(strings.Join(headers, ","), ",")
	var client netip.Addr
	for i := len(hops) - 1; i >= 0; i-- {
		addr, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		client = addr.Unmap()
		trusted := false
		for _, p := range g.Proxies {
			trusted = trusted || p.Contains(client)
		}
		if !trusted {
			break
		}
	}
	return client
}

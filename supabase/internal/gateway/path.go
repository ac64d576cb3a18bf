package gateway

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// sanitise refuses requests that two parsers could read differently. It gives each path one
// spelling and removes forwarding headers that no trusted proxy sent.
func (g *gateway) sanitise(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !g.cleanRequest(w, r) {
			writeText(w, http.StatusBadRequest, "Bad Request")
			return
		}
		next.ServeHTTP(w, r)
	}
}

// cleanRequest does the work of sanitise. It returns false for a request to refuse.
func (g *gateway) cleanRequest(w http.ResponseWriter, r *http.Request) bool {
	clean, ok := g.asSent(r.URL)
	if !ok {
		clean, ok = normalise(r.URL)
	}
	if !ok {
		return false
	}
	r.URL = clean
	for name := range r.Header {
		if strings.Contains(name, "_") {
			return false
		}
	}
	// net/http has removed a Content-Length beside Transfer-Encoding. After such a request the
	// connection must be closed (RFC 9112, section 6.1), because a proxy in front may see another
	// request in the rest of the body.
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close")
	}
	g.proxies.setForwarded(r)
	if re, ok := w.(*reply); ok {
		re.https = r.Header.Get("X-Forwarded-Proto") == "https"
	}
	return true
}

// asSent returns the URL of a service with rawPaths. The path below the prefix stays as the client
// sent it, and the prefix gets its one spelling. ok is false for all other paths.
func (g *gateway) asSent(u *url.URL) (out *url.URL, ok bool) {
	sent := u.EscapedPath()
	for _, s := range g.services {
		rest, ok := cutPrefix(sent, s.prefix)
		if !s.rawPaths || !ok {
			continue
		}
		if s.prefix+rest == sent {
			return u, true
		}
		decoded, err := url.PathUnescape(rest)
		if err != nil {
			return nil, false
		}
		out := *u
		out.Path, out.RawPath = s.prefix+decoded, ""
		if out.EscapedPath() != s.prefix+rest {
			out.RawPath = s.prefix + rest
		}
		return &out, true
	}
	return nil, false
}

// cutPrefix removes prefix from an escaped path. It finds the prefix also if the path spells it
// with empty segments, with "." segments or with needless percent-encoding.
func cutPrefix(path, prefix string) (rest string, ok bool) {
	rest = path
	for want := range strings.SplitSeq(prefix[1:], "/") {
		segment := ""
		for segment == "" || segment == "." {
			if rest == "" {
				return "", false
			}
			segment, rest = rest[1:], ""
			if i := strings.IndexByte(segment, '/'); i >= 0 {
				segment, rest = segment[:i], segment[i:]
			}
			segment = decodeUnreserved(segment)
		}
		if segment != want {
			return "", false
		}
	}
	return rest, true
}

// normalise resolves dot segments, double slashes and needless percent-encoding (RFC 3986, section
// 6.2.2), so that a route has one spelling. It refuses a path with an encoded slash, backslash or
// control character, because services would disagree about its meaning.
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
	plain := decodeUnreserved(sent)
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

// decodeUnreserved decodes the characters that RFC 3986 calls unreserved.
func decodeUnreserved(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
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

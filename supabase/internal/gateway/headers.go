package gateway

import (
	"net/http"
	"strings"
)

// secured puts the security headers on every reply. A service or the site may set a stricter or a wider value of its
// own; what is set already stays.
func (g *gateway) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if re, ok := w.(*reply); ok {
			re.before(func(h http.Header, _ int) {
				protect(h, re.service)
				if re.https && g.HSTS {
					setDefault(h, "Strict-Transport-Security", "max-age=31536000")
				}
			})
		}
		next.ServeHTTP(w, r)
	})
}

// protect fills in the headers that are not set. Everything is served from one origin, so a document that somebody
// uploaded must not run in it: it is sandboxed. A PDF is not, because browsers refuse to show a sandboxed one.
func protect(h http.Header, service string) {
	h.Set("X-Content-Type-Options", "nosniff")
	setDefault(h, "Referrer-Policy", "no-referrer")
	setDefault(h, "X-Frame-Options", "DENY")
	setDefault(h, "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()")
	setDefault(h, "Cross-Origin-Opener-Policy", "same-origin")
	if service == "site" {
		setDefault(h, "Cross-Origin-Resource-Policy", "same-origin")
	} else {
		setDefault(h, "Cross-Origin-Resource-Policy", "cross-origin")
	}
	switch content, _, _ := strings.Cut(h.Get("Content-Type"), ";"); {
	case strings.TrimSpace(content) == "application/pdf":
		setDefault(h, "Content-Security-Policy", "frame-ancestors 'none'")
	case service == "functions":
		setDefault(h, "Content-Security-Policy", "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	default:
		setDefault(h, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'")
	}
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

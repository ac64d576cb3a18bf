package gateway

import (
	"net/http"
	"strings"
)

// secureHeaders sets the security headers of a reply when it is sent, unless the service or the
// site has set its own value.
func (g *gateway) secureHeaders(w *reply) {
	w.onHeader(func(h http.Header, _ int) {
		w.service.secureHeaders(h)
		if w.https && g.HSTS {
			if h.Get("Strict-Transport-Security") == "" {
				h.Set("Strict-Transport-Security", "max-age=31536000")
			}
		}
	})
}

// secureHeaders sets the security headers that are missing. PDFs get no sandbox, because browsers
// do not show a sandboxed PDF.
func (s *service) secureHeaders(h http.Header) {
	policy := s.contentPolicy
	if kind, _, _ := strings.Cut(h.Get("Content-Type"), ";"); strings.TrimSpace(kind) == "application/pdf" {
		policy = "frame-ancestors 'none'"
	}
	delete(h, "X-Content-Type-Options")
	setDefaults(h, &[...]header{
		{"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}, {"X-Frame-Options", "DENY"},
		{"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"},
		{"Cross-Origin-Opener-Policy", "same-origin"}, {"Cross-Origin-Resource-Policy", s.resourcePolicy},
		{"Content-Security-Policy", policy},
	})
}

// header is a header with its name in canonical form.
type header struct{ name, value string }

// setDefaults sets the headers that are missing or empty.
func setDefaults(h http.Header, defaults *[7]header) {
	values := make([]string, len(defaults)) // one allocation for all
	for i, d := range defaults {
		if given := h[d.name]; len(given) == 0 || given[0] == "" {
			values[i] = d.value
			h[d.name] = values[i : i+1 : i+1]
		}
	}
}

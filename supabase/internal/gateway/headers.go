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
			setDefault(h, "Strict-Transport-Security", "max-age=31536000")
		}
	})
}

// secureHeaders sets the security headers that are missing. PDFs get no sandbox, because browsers
// do not show a sandboxed PDF.
func (s *service) secureHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	setDefault(h, "Referrer-Policy", "no-referrer")
	setDefault(h, "X-Frame-Options", "DENY")
	setDefault(h, "Permissions-Policy",
		"camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()")
	setDefault(h, "Cross-Origin-Opener-Policy", "same-origin")
	setDefault(h, "Cross-Origin-Resource-Policy", s.resourcePolicy)
	policy := s.contentPolicy
	if kind, _, _ := strings.Cut(h.Get("Content-Type"), ";"); strings.TrimSpace(kind) == "application/pdf" {
		policy = "frame-ancestors 'none'"
	}
	setDefault(h, "Content-Security-Policy", policy)
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

package gotrue

import (
	"net"
	"net/http"
	"strings"
)

// forwardedFor is the header in which Supabase's proxies name the client.
const forwardedFor = "Sb-Forwarded-For"

// withForwardedFor takes the client of a request from sb-forwarded-for, if that begins with an
// address: for sessions, challenges, hooks and rate limits. limitHeader is the header of the
// limits.
func withForwardedFor(next http.Handler, limitHeader string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(r.Header.Get(forwardedFor), ",")
		if ip := net.ParseIP(strings.TrimSpace(first)); ip != nil {
			r.Header.Set("X-Forwarded-For", ip.String())
			r.Header.Set(limitHeader, ip.String())
		} else {
			r.Header.Del(forwardedFor)
		}
		next.ServeHTTP(w, r)
	})
}

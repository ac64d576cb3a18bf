package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Local serves next, which has no login, to browsers and programs of this machine: the port listens
// on loopback. Pages of other sites may link to it, but cannot read it or change something: their
// requests get 403. A Host that is not this machine gets 403 as well, because a site can let its
// name resolve to a loopback address.
func Local(next http.Handler) http.Handler {
	own := ownSite(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		privateHeaders(w.Header())
		if !LocalHost(r.Host) {
			writeText(w, http.StatusForbidden, "Use the address of this machine: localhost or 127.0.0.1.")
			return
		}
		own.ServeHTTP(w, r)
	})
}

// noPages refuses requests that a page sends, of this site too: a site can let its name resolve to
// a loopback address.
func noPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); r.Header.Get("Origin") != "" || site != "" && site != "none" {
			writeText(w, http.StatusForbidden, "This service is for programs. The request came from a page.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownSite refuses requests of pages of other sites, except links to a page.
func ownSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sameOrigin.Check(unsafeMethod(r)) != nil || embedded(r) {
			writeText(w, http.StatusForbidden, "This request came from another site.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// privateHeaders sets the headers of pages for administrators.
func privateHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "none")
}

// embedded reports whether a page of another site loads something, without leaving its own page.
func embedded(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// LocalHost reports whether a Host header names this machine.
func LocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

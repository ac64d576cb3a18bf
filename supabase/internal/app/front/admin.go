package front

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"daawo/supabase/internal/app/handover"
)

// openAdminPort opens the port of the administrators' application, if the program has one. On a
// public address without DESK_URL, and if port 443 serves the application, the port accepts local
// connections only.
func (f *Front) openAdminPort() error {
	if f.AdminSite == nil {
		return nil
	}
	host := f.Config.Host
	if !f.Config.Loopback() && len(f.Config.PublishedOn) == 0 && (f.Config.AdminURL == "" || f.secure != nil) {
		host = "127.0.0.1"
	}
	port := f.Config.AdminPort
	if port != 0 && port == f.Config.Studio.Port && f.Config.StudioUpstreamURL != "" {
		return fmt.Errorf("DESK_PORT: %d is the port of Studio; set another one, such as 54325", port)
	}
	l, err := f.sockets.Listen(handover.AdminSocket, host, port, f.AnyPort)
	if err != nil {
		return err
	}
	// its server closes it as well
	f.OnClose("administrators' port", func(context.Context) error { _ = l.Close(); return nil })
	f.desk, f.Admin = l, f.Config.AdminURL
	if f.Admin == "" {
		scheme := "http"
		if f.Config.API.TLS.Enabled {
			scheme = "https"
		}
		f.Admin = fmt.Sprintf("%s://127.0.0.1:%d", scheme, handover.Port(l))
	}
	return nil
}

// serveAdmin serves the administrators' application on its port. secure may be nil.
func (f *Front) serveAdmin(h http.Handler, secure *tls.Config) {
	if f.desk == nil {
		return
	}
	Serve(f.Installation, "administrators' application", h, f.desk, connLimits(f.Config), secure)
}

// adminHost returns the host name of DESK_URL, or "".
func (f *Front) adminHost() string {
	u, err := url.Parse(f.Config.AdminURL)
	if err != nil || f.desk == nil {
		return ""
	}
	return u.Hostname()
}

// domains returns the domains to obtain certificates for.
func (f *Front) domains() []string {
	domains := slices.Clone(f.Config.TLSDomains)
	if host := f.adminHost(); host != "" && net.ParseIP(host) == nil && !slices.Contains(domains, host) {
		domains = append(domains, host)
	}
	return domains
}

// byHost serves admin for the host name of DESK_URL and h for all others.
func (f *Front) byHost(admin, h http.Handler) http.Handler {
	name := f.adminHost()
	if name == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if strings.EqualFold(host, name) {
			admin.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

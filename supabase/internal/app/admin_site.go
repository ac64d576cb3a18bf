package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/engine/auth"
	"daawo/supabase/internal/gateway"
)

// openAdminPort opens the port of the administrators' application, if the program has one. On a
// public address without DESK_URL, and if port 443 serves the application, the port accepts local
// connections only.
func (f *front) openAdminPort() error {
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
	f.desk, f.admin = l, f.Config.AdminURL
	if f.admin == "" {
		scheme := "http"
		if f.Config.API.TLS.Enabled {
			scheme = "https"
		}
		f.admin = fmt.Sprintf("%s://127.0.0.1:%d", scheme, handover.Port(l))
	}
	return nil
}

// adminGateway returns the handler of the administrators' application: its files, and the API on
// the same origin, so that its pages need no other one. It returns nil if the program has no such
// application.
func (s *services) adminGateway(p *sites) (http.Handler, error) {
	files, err := p.admin()
	if err != nil || files == nil {
		return nil, err
	}
	p.served = append(p.served, files)
	return gateway.New(s.gatewayOptions(files)), nil
}

// serveAdmin serves the administrators' application on its port. secure may be nil.
func (f *front) serveAdmin(h http.Handler, secure *tls.Config) {
	if f.desk == nil {
		return
	}
	serveUntilClose(f.App, "administrators' application", httpServer(h, f.Log), f.desk, connLimits(f.Config), secure)
}

// adminHost returns the host name of DESK_URL, or "".
func (f *front) adminHost() string {
	u, err := url.Parse(f.Config.AdminURL)
	if err != nil || f.desk == nil {
		return ""
	}
	return u.Hostname()
}

// domains returns the domains to obtain certificates for.
func (f *front) domains() []string {
	domains := slices.Clone(f.Config.TLSDomains)
	if host := f.adminHost(); host != "" && net.ParseIP(host) == nil && !slices.Contains(domains, host) {
		domains = append(domains, host)
	}
	return domains
}

// byHost serves admin for the host name of DESK_URL and h for all others.
func (f *front) byHost(admin, h http.Handler) http.Handler {
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

// admitAdminSite lets auth redirect to the administrators' application, and makes that application
// the relying party of WebAuthn if config.toml names no other. A browser accepts no IP address
// there: on loopback the host is localhost.
func (s *services) admitAdminSite(c *auth.Config) {
	if s.admin == "" {
		return
	}
	c.RedirectURLs = append(slices.Clone(c.RedirectURLs), s.admin, s.admin+"/**")
	u, err := url.Parse(s.admin)
	if err != nil || c.WebAuthn.RPID != "" || len(c.WebAuthn.RPOrigins) > 0 {
		return
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil {
		if !ip.IsLoopback() {
			return
		}
		u.Host = net.JoinHostPort("localhost", u.Port())
	}
	c.WebAuthn.RPID, c.WebAuthn.RPOrigins = u.Hostname(), []string{u.Scheme + "://" + u.Host}
	c.WebAuthn.RPDisplayName = cmp.Or(c.WebAuthn.RPDisplayName, c.WebAuthn.RPID)
}

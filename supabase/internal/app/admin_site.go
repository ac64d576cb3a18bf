package app

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/engine/auth"
	"daawo/supabase/internal/gateway"
)

// adminGateway returns the handler of the administrators' application: its files, and the API on
// the same origin, so that its pages need no other one. It returns nil if the program has no such
// application.
func (s *services) adminGateway(p *front.Sites) (http.Handler, error) {
	files, err := p.Admin()
	if err != nil || files == nil {
		return nil, err
	}
	return gateway.New(s.gatewayOptions(files)), nil
}

// admitAdminSite lets auth redirect to the administrators' application, and makes that application
// the relying party of WebAuthn if config.toml names no other. A browser accepts no IP address
// there: on loopback the host is localhost.
func (s *services) admitAdminSite(c *auth.Config) {
	if s.Admin == "" {
		return
	}
	c.RedirectURLs = append(slices.Clone(c.RedirectURLs), s.Admin, s.Admin+"/**")
	u, err := url.Parse(s.Admin)
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

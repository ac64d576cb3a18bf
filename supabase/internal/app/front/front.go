// Package front opens the public ports of a stack and serves the gateway, the site, the
// administrators' application and Studio on them, with TLS.
package front

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/gateway"
)

// Addresses are the addresses of the gateway, without a trailing slash.
type Addresses struct {
	Public string // for browsers
	Inside string // for local programs, which may be unable to reach the public one
	Admin  string // of the administrators' application, "" if there is none
	Studio string // of the Studio that this process serves, "" if there is none
}

// Front is the set of public ports.
type Front struct {
	installation.Installation
	Addresses
	sockets *handover.Sockets
	plain   net.Listener // the public port, or the local one if certificates are obtained
	secure  net.Listener // port 443, if certificates are obtained
	web     net.Listener // port 80, which redirects to port 443
	desk    net.Listener // the port of the administrators' application; nil if there is none
	studio  net.Listener // nil if there is none
}

// PlainHost returns the host of the port without TLS: the public one, or loopback if port 443 is
// the public port. (serve gateway always listens publicly, for the services in other containers.)
func PlainHost(c *config.Config) string {
	if len(c.TLSDomains) > 0 && !c.API.TLS.Enabled {
		return "127.0.0.1"
	}
	return c.Host
}

// Listen opens the public ports, the one without TLS on plainHost.
func Listen(in installation.Installation, sockets *handover.Sockets, plainHost string) (*Front, error) {
	f := &Front{Installation: in, sockets: sockets}
	open := func(to *net.Listener, name, host string, port uint16) error {
		l, err := sockets.Listen(name, host, port, false)
		if err != nil {
			return err
		}
		in.OnClose("port", func(context.Context) error { _ = l.Close(); return nil }) // its server closes it as well
		*to = l
		return nil
	}
	if err := open(&f.plain, handover.PlainSocket, plainHost, in.Config.API.Port); err != nil {
		return nil, err
	}
	if len(in.Config.TLSDomains) > 0 {
		if err := errors.Join(open(&f.secure, handover.SecureSocket, in.Config.Host, 443),
			open(&f.web, handover.WebSocket, in.Config.Host, 80)); err != nil {
			return nil, err
		}
	}
	f.Public = PublicAddress(in.Config, handover.Port(f.plain))
	f.Inside = f.Public
	if !in.Config.API.TLS.Enabled {
		host, port, _ := net.SplitHostPort(f.plain.Addr().String())
		if ip := net.ParseIP(host); ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		f.Inside = "http://" + net.JoinHostPort(host, port)
	}
	return f, errors.Join(f.openAdminPort(), f.openStudioPort())
}

// PublicAddress returns the address of the site for browsers: SITE_URL, or the opened port.
func PublicAddress(c *config.Config, port int) string {
	if c.SiteURL != "" {
		return c.SiteURL
	}
	if len(c.TLSDomains) > 0 {
		return "https://" + c.TLSDomains[0]
	}
	scheme := "http"
	if c.API.TLS.Enabled {
		scheme = "https"
	}
	host := c.Host
	if host == "localhost" || host == "::1" {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("%s://%s:%d", scheme, host, port)
}

// Handlers are what the ports serve.
type Handlers struct {
	Gateway http.Handler
	Admin   http.Handler // the administrators' application with its API; nil if there is none
	Studio  http.Handler // nil if there is none

	StudioSignIn gateway.SignIn // accounts that may open Studio; nil for none
}

// Start begins to serve. With a configured certificate the public port serves HTTPS. With domains
// to obtain certificates for, port 443 does, and the port without TLS serves local programs and
// health checks (PlainHost). Studio's port uses HTTPS in both cases, because its login sends a
// password.
func (f *Front) Start(ctx context.Context, h Handlers) error {
	var own *tls.Config
	if f.Config.API.TLS.Enabled {
		pair, err := f.Certificate()
		if err != nil {
			return fmt.Errorf("api.tls: %w", err)
		}
		own = tlsConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	}
	if f.secure == nil {
		f.serveStudio(h.Studio, h.StudioSignIn, own)
		f.serveAdmin(h.Admin, own)
		Serve(f.Installation, "gateway", h.Gateway, f.plain, connLimits(f.Config), own)
		return nil
	}
	magic, redirect, err := f.certificates(ctx)
	if err != nil {
		return err
	}
	f.serveStudio(h.Studio, h.StudioSignIn, tlsConfig(magic.TLSConfig()))
	f.serveAdmin(h.Admin, nil)
	Serve(f.Installation, "gateway", h.Gateway, f.plain, connLimits(f.Config), own)
	Serve(f.Installation, "HTTPS", f.byHost(h.Admin, h.Gateway), f.secure, connLimits(f.Config),
		tlsConfig(magic.TLSConfig()))
	Serve(f.Installation, "HTTP", redirect, f.web, connLimits(f.Config), nil)
	return nil
}

func tlsConfig(c *tls.Config) *tls.Config {
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = append([]string{"h2", "http/1.1"}, c.NextProtos...)
	return c
}

// certificates obtains and renews the certificates of the domains. The returned handler for port 80
// answers the challenges of the certificate authority and redirects all other requests to HTTPS.
func (f *Front) certificates(ctx context.Context) (*certmagic.Config, http.Handler, error) {
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
		Logger:           zap.NewNop(),
	})
	f.OnClose("certificates", func(context.Context) error { cache.Stop(); return nil })
	magic = certmagic.New(cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: filepath.Join(f.Data, "certificates")},
		Logger:  zap.NewNop(),
		// For connections to another name, such as through a tunnel to the port of Studio:
		// encrypted, with a browser warning.
		FallbackServerName: f.Config.TLSDomains[0],
		OnEvent: func(_ context.Context, event string, data map[string]any) error {
			switch event {
			case "cert_obtained":
				f.Log.Info("certificate obtained", "domain", data["identifier"])
			case "cert_failed":
				f.Log.Error("obtaining a certificate failed; check that the domain points here and that ports 80 and 443 are open", "domain", data["identifier"], "error", data["error"])
			}
			return nil
		},
	})
	issuer := certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA: certmagic.LetsEncryptProductionCA, Email: f.Config.ACMEEmail, Agreed: true, Logger: zap.NewNop(),
	})
	if f.Config.ACMEURL != "" {
		issuer.CA = f.Config.ACMEURL
	}
	magic.Issuers = []certmagic.Issuer{issuer}
	// In the background: the stack must start while the certificate authority is unreachable.
	domains := f.domains()
	if err := magic.ManageAsync(context.WithoutCancel(ctx), domains); err != nil {
		return nil, nil, fmt.Errorf("certificates: %w", err)
	}
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		// a forged Host must not redirect to another site
		if !slices.ContainsFunc(domains, func(d string) bool { return strings.EqualFold(d, host) }) {
			host = f.Config.TLSDomains[0]
		}
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
	})
	return magic, issuer.HTTPChallengeHandler(redirect), nil
}

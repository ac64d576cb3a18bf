package app

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

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/gateway"
)

// addresses are the two addresses of the gateway, without a trailing slash.
type addresses struct {
	public string // for browsers
	inside string // for local programs, which may be unable to reach the public one
	admin  string // of the administrators' application, "" if there is none
}

// front is the set of public ports.
type front struct {
	*App
	addresses
	plain  net.Listener // the public port, or the local one if certificates are obtained
	secure net.Listener // port 443, if certificates are obtained
	web    net.Listener // port 80, which redirects to port 443
	desk   net.Listener // the port of the administrators' application; nil if there is none
}

// plainHost is the address of the port without TLS: the public one, or loopback if port 443 is the
// public port. (serve gateway always listens publicly, for the services in other containers.)
func (a *App) plainHost() string {
	if len(a.cfg.TLSDomains) > 0 && !a.cfg.API.TLS.Enabled {
		return "127.0.0.1"
	}
	return a.cfg.Host
}

// openFront opens the public ports, the one without TLS on plainHost.
func (a *App) openFront(plainHost string) (*front, error) {
	f := &front{App: a}
	open := func(to *net.Listener, name, host string, port uint16) error {
		l, err := listen(a, name, host, port, false)
		if err != nil {
			return err
		}
		a.onClose("port", func(context.Context) error { _ = l.Close(); return nil }) // its server closes it as well
		*to = l
		return nil
	}
	if err := open(&f.plain, plainSocket, plainHost, a.cfg.API.Port); err != nil {
		return nil, err
	}
	if len(a.cfg.TLSDomains) > 0 {
		if err := errors.Join(open(&f.secure, secureSocket, a.cfg.Host, 443),
			open(&f.web, webSocket, a.cfg.Host, 80)); err != nil {
			return nil, err
		}
	}
	f.public = publicAddress(a.cfg, portOf(f.plain))
	f.inside = f.public
	if !a.cfg.API.TLS.Enabled {
		host, port, _ := net.SplitHostPort(f.plain.Addr().String())
		if ip := net.ParseIP(host); ip.IsUnspecified() {
			host = "127.0.0.1"
		}
		f.inside = "http://" + net.JoinHostPort(host, port)
	}
	return f, f.openAdminPort()
}

// publicAddress returns the address of the site for browsers: SITE_URL, or the opened port.
func publicAddress(c *config.Config, port int) string {
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

// open starts serving. With a configured certificate the public port serves HTTPS. With domains to
// obtain certificates for, port 443 does, and the port without TLS serves local programs and health
// checks (plainHost). Studio's port uses HTTPS in both cases, because its login sends a password.
func (f *front) open(ctx context.Context, h, admin http.Handler) error {
	var own *tls.Config
	if f.cfg.API.TLS.Enabled {
		pair, err := apiCertificate(f.App)
		if err != nil {
			return fmt.Errorf("api.tls: %w", err)
		}
		own = tlsConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	}
	if f.secure == nil {
		if err := f.openStudio(own); err != nil {
			return err
		}
		f.serveAdmin(admin, own)
		serveUntilClose(f.App, "gateway", httpServer(h, f.log), f.plain, connLimits(f.cfg), own)
		return nil
	}
	magic, redirect, err := f.certificates(ctx)
	if err != nil {
		return err
	}
	if err := f.openStudio(tlsConfig(magic.TLSConfig())); err != nil {
		return err
	}
	f.serveAdmin(admin, nil)
	serveUntilClose(f.App, "gateway", httpServer(h, f.log), f.plain, connLimits(f.cfg), own)
	serveUntilClose(f.App, "HTTPS", httpServer(f.byHost(admin, h), f.log), f.secure, connLimits(f.cfg),
		tlsConfig(magic.TLSConfig()))
	serveUntilClose(f.App, "HTTP", httpServer(redirect, f.log), f.web, connLimits(f.cfg), nil)
	return nil
}

func tlsConfig(c *tls.Config) *tls.Config {
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = append([]string{"h2", "http/1.1"}, c.NextProtos...)
	return c
}

// certificates obtains and renews the certificates of the domains. The returned handler for port 80
// answers the challenges of the certificate authority and redirects all other requests to HTTPS.
func (f *front) certificates(ctx context.Context) (*certmagic.Config, http.Handler, error) {
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
		Logger:           zap.NewNop(),
	})
	f.onClose("certificates", func(context.Context) error { cache.Stop(); return nil })
	magic = certmagic.New(cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: filepath.Join(f.data, "certificates")},
		Logger:  zap.NewNop(),
		// For connections to another name, such as through a tunnel to the port of Studio:
		// encrypted, with a browser warning.
		FallbackServerName: f.cfg.TLSDomains[0],
		OnEvent: func(_ context.Context, event string, data map[string]any) error {
			switch event {
			case "cert_obtained":
				f.log.Info("certificate obtained", "domain", data["identifier"])
			case "cert_failed":
				f.log.Error("obtaining a certificate failed; check that the domain points here and that ports 80 and 443 are open", "domain", data["identifier"], "error", data["error"])
			}
			return nil
		},
	})
	issuer := certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA: certmagic.LetsEncryptProductionCA, Email: f.cfg.ACMEEmail, Agreed: true, Logger: zap.NewNop(),
	})
	if f.cfg.ACMEURL != "" {
		issuer.CA = f.cfg.ACMEURL
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
			host = f.cfg.TLSDomains[0]
		}
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
	})
	return magic, issuer.HTTPChallengeHandler(redirect), nil
}

// openStudio serves Studio behind its login on a separate port. secure may be nil.
func (f *front) openStudio(secure *tls.Config) error {
	if f.cfg.StudioUpstreamURL == "" {
		return nil
	}
	var studio http.Handler
	if err := f.upstream(f.cfg.StudioUpstreamURL, &studio); err != nil {
		return err
	}
	l, err := listen(f.App, studioSocket, f.cfg.Host, f.cfg.Studio.Port, f.options.AnyPort)
	if err != nil {
		return err
	}
	login := gateway.Login(f.cfg.DashboardUser, f.cfg.DashboardPassword, f.cfg.Proxies, studio)
	serveUntilClose(f.App, "Studio", httpServer(login, f.log), l, connLimits(f.cfg), secure)
	return nil
}

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"daawo/supabase/internal/config"
	"daawo/supabase/internal/gateway"
)

// places are the two addresses of the gateway, without a slash at the end.
type places struct {
	public string // as visitors type it
	inside string // for this machine's own programs, which may not reach the public one
}

// front is where visitors come in.
type front struct {
	places
	plain  net.Listener // the public port; with certificates to fetch the one of this machine's own programs
	secure net.Listener // port 443, when certificates are fetched
	web    net.Listener // port 80, which sends visitors there
}

// plainHost is where the whole stack listens on the port without TLS: where everybody can reach it, or, when visitors are
// served on port 443, on this machine alone. (A gateway of its own listens there for the services in other containers.)
func (a *App) plainHost() string {
	if len(a.cfg.TLSDomains) > 0 && !a.cfg.API.TLS.Enabled {
		return "127.0.0.1"
	}
	return a.cfg.Host
}

// openFront opens the public ports, the one without TLS on plainHost.
func (a *App) openFront(plainHost string) (*front, error) {
	f := &front{}
	open := func(to *net.Listener, host string, port uint16) error {
		l, err := listen(host, port, false)
		if err != nil {
			return err
		}
		a.onClose("port", func(context.Context) error { _ = l.Close(); return nil }) // its server closes it, too
		*to = l
		return nil
	}
	if err := open(&f.plain, plainHost, a.cfg.API.Port); err != nil {
		return nil, err
	}
	if len(a.cfg.TLSDomains) > 0 {
		if err := errors.Join(open(&f.secure, a.cfg.Host, 443), open(&f.web, a.cfg.Host, 80)); err != nil {
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
	return f, nil
}

// publicAddress is how visitors reach the site: SITE_URL, or the port that was opened.
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

// openDoors begins to serve. With a certificate of one's own the public port speaks HTTPS; with domains to fetch
// certificates for, port 443 does, and the plain port is for this machine's own programs and health checks (plainHost).
// Studio's port speaks HTTPS with either: a password travels to it.
func (a *App) openDoors(ctx context.Context, f *front, h http.Handler) error {
	var own *tls.Config
	if a.cfg.API.TLS.Enabled {
		pair, err := tls.LoadX509KeyPair(a.beside(a.cfg.API.TLS.CertPath), a.beside(a.cfg.API.TLS.KeyPath))
		if err != nil {
			return fmt.Errorf("api.tls: %w", err)
		}
		own = tlsConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	}
	if f.secure == nil {
		if err := a.openStudio(own); err != nil {
			return err
		}
		a.onClose("gateway", serve(server(h, a.log), f.plain, a.visitors(), own, a.fail))
		return nil
	}
	magic, redirect, err := a.certificates(ctx)
	if err != nil {
		return err
	}
	if err := a.openStudio(tlsConfig(magic.TLSConfig())); err != nil {
		return err
	}
	a.onClose("gateway", serve(server(h, a.log), f.plain, a.visitors(), own, a.fail))
	a.onClose("HTTPS", serve(server(h, a.log), f.secure, a.visitors(), tlsConfig(magic.TLSConfig()), a.fail))
	a.onClose("HTTP", serve(server(redirect, a.log), f.web, a.visitors(), nil, a.fail))
	return nil
}

// beside resolves a path of config.toml.
func (a *App) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.cfg.Dir, name)
}

func tlsConfig(c *tls.Config) *tls.Config {
	c.MinVersion = tls.VersionTLS12
	c.NextProtos = append([]string{"h2", "http/1.1"}, c.NextProtos...)
	return c
}

// certificates fetches and renews the certificates of the domains, and answers the authority's questions on port 80;
// everybody else there is sent to HTTPS.
func (a *App) certificates(ctx context.Context) (*certmagic.Config, http.Handler, error) {
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil },
		Logger:           zap.NewNop(),
	})
	a.onClose("certificates", func(context.Context) error { cache.Stop(); return nil })
	magic = certmagic.New(cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: filepath.Join(a.data, "certificates")},
		Logger:  zap.NewNop(),
		// For who comes by another name, such as through a tunnel to Studio's port: the browser asks, and it is encrypted.
		FallbackServerName: a.cfg.TLSDomains[0],
		OnEvent: func(_ context.Context, event string, data map[string]any) error {
			switch event {
			case "cert_obtained":
				a.log.Info("certificate obtained", "domain", data["identifier"])
			case "cert_failed":
				a.log.Error("no certificate: does the domain point here, and are ports 80 and 443 open?", "domain", data["identifier"], "error", data["error"])
			}
			return nil
		},
	})
	issuer := certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA: certmagic.LetsEncryptProductionCA, Email: a.cfg.ACMEEmail, Agreed: true, Logger: zap.NewNop(),
	})
	if a.cfg.ACMEURL != "" {
		issuer.CA = a.cfg.ACMEURL
	}
	magic.Issuers = []certmagic.Issuer{issuer}
	// In the background: the site must start although the authority is away.
	if err := magic.ManageAsync(context.WithoutCancel(ctx), a.cfg.TLSDomains); err != nil {
		return nil, nil, fmt.Errorf("certificates: %w", err)
	}
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !known(a.cfg.TLSDomains, host) { // a forged Host must not send a visitor elsewhere
			host = a.cfg.TLSDomains[0]
		}
		http.Redirect(w, r, "https://"+host+r.URL.RequestURI(), http.StatusPermanentRedirect)
	})
	return magic, issuer.HTTPChallengeHandler(redirect), nil
}

func known(domains []string, host string) bool {
	for _, d := range domains {
		if strings.EqualFold(d, host) {
			return true
		}
	}
	return false
}

// openStudio serves Studio behind its login, on a port of its own; secure may be nil.
func (a *App) openStudio(secure *tls.Config) error {
	if a.cfg.StudioUpstreamURL == "" {
		return nil
	}
	var studio http.Handler
	if err := a.upstream(a.cfg.StudioUpstreamURL, &studio); err != nil {
		return err
	}
	l, err := listen(a.cfg.Host, a.cfg.Studio.Port, a.options.AnyPort)
	if err != nil {
		return err
	}
	door := gateway.Login(a.cfg.DashboardUser, a.cfg.DashboardPassword, a.cfg.Proxies, studio)
	a.onClose("Studio", serve(server(door, a.log), l, a.visitors(), secure, a.fail))
	return nil
}

package doctor

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

// certificates checks that the running server has a valid certificate for each domain that it
// obtains certificates for.
func (c *checker) certificates(ctx context.Context) {
	domains := slices.Clone(c.Config.TLSDomains)
	if len(domains) == 0 || c.Config.API.TLS.Enabled {
		return
	}
	if u, err := url.Parse(c.Config.AdminURL); err == nil && c.AdminSite != nil && u.Hostname() != "" &&
		net.ParseIP(u.Hostname()) == nil {
		domains = append(domains, u.Hostname())
	}
	host := c.Config.Host
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	slices.Sort(domains)
	for _, domain := range slices.Compact(domains) {
		c.certificate(ctx, net.JoinHostPort(host, "443"), domain)
	}
}

// certificate checks the certificate that the server at address presents for a domain. The issuer
// is not checked, because ACME_CA may name a private authority.
func (c *checker) certificate(ctx context.Context, address, domain string) {
	const advice = "check that the domain points to this machine, and that ports 80 and 443 can be reached from " +
		"the internet; the log of the server says more"
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// nolint:gosec // name and times are checked below
	dialer := tls.Dialer{Config: &tls.Config{ServerName: domain, InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		c.say("certificate", Bad, "missing", "there is none for %s (%v): "+advice, domain, err)
		return
	}
	defer conn.Close()
	leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	left := time.Until(leaf.NotAfter)
	switch err := leaf.VerifyHostname(domain); {
	case err != nil:
		c.say("certificate", Bad, "missing", "there is none for %s (%v): "+advice, domain, err)
	case left <= 0:
		c.say("certificate", Bad, "expired", "for %s: expired on %s; "+advice, domain,
			leaf.NotAfter.Format(time.DateOnly))
	default:
		c.say("certificate", Good, "valid", "for %s: valid until %s", domain, leaf.NotAfter.Format(time.DateOnly))
	}
}

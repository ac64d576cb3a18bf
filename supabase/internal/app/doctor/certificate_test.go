package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// TestDoctorCertificate checks the findings about a server with a certificate, with none, and with
// none for the domain.
func TestDoctorCertificate(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(end time.Time) string {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: end, DNSNames: []string{"example.org"}}
		der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
		if err != nil {
			t.Fatal(err)
		}
		l, err := tls.Listen("tcp", "127.0.0.1:0",
			&tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
				if h.ServerName == "missing.example.org" {
					return nil, errors.New("no certificate")
				}
				return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				_ = conn.(*tls.Conn).HandshakeContext(t.Context())
				_ = conn.Close()
			}
		}()
		return l.Addr().String()
	}
	valid := serve(time.Now().Add(time.Hour))
	for _, check := range []struct {
		address, domain string
		want            Verdict
		says            string
	}{
		{valid, "example.org", Good, "valid until"},
		{valid, "desk.example.org", Bad, "ports 80 and 443"},
		{valid, "missing.example.org", Bad, "ports 80 and 443"},
		{serve(time.Now().Add(-time.Hour)), "example.org", Bad, "expired on"},
		{net.JoinHostPort("127.0.0.1", closedPort(t)), "example.org", Bad, "connection refused"},
	} {
		c := &checker{}
		c.certificate(t.Context(), check.address, check.domain)
		if len(c.findings) != 1 || c.findings[0].Verdict != check.want ||
			!strings.Contains(c.findings[0].Says, check.says) {
			t.Errorf("%s: %v, want %s with %q", check.domain, c.findings, check.want, check.says)
		}
	}
}

package datadir

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"daawo/supabase/internal/base/atomicfile"
)

// Certificate returns the certificate NAME.crt of a data folder with its key NAME.key. It is signed
// by itself and made at the first call.
func Certificate(data, name string) (tls.Certificate, error) {
	cert, key := filepath.Join(data, name+".crt"), filepath.Join(data, name+".key")
	if _, err := os.Stat(key); errors.Is(err, fs.ErrNotExist) {
		if err := writeSelfSigned(cert, key); err != nil {
			return tls.Certificate{}, err
		}
	}
	return tls.LoadX509KeyPair(cert, key)
}

// writeSelfSigned writes a certificate for this machine and its key. The certificate is written
// first, so that a key means both.
func writeSelfSigned(cert, key string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: host}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.AddDate(10, 0, 0), DNSNames: []string{host, "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		0o644); err != nil {
		return err
	}
	return atomicfile.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}

package sso

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// keyPair is a key with the certificate by which providers know it.
type keyPair struct {
	private     *rsa.PrivateKey
	certificate *x509.Certificate
}

// newKeyPair reads a key and makes its certificate. The certificate of a key and a host is always
// the same, and the one that GoTrue makes of them, so providers accept it after a move.
func newKeyPair(text, host string, encrypts bool) (keyPair, error) {
	private, err := parseKey(text)
	if err != nil {
		return keyPair{}, err
	}
	epoch := time.Unix(0, 0).UTC()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(0), Subject: pkix.Name{CommonName: "SAML 2.0 Certificate for " + host},
		DNSNames: []string{"_samlsp." + host}, NotBefore: epoch, NotAfter: epoch.AddDate(200, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if encrypts {
		template.KeyUsage |= x509.KeyUsageDataEncipherment
	}
	der, err := x509.CreateCertificate(nil, template, template, private.Public(), private)
	if err != nil {
		return keyPair{}, fmt.Errorf("SAML certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	return keyPair{private, certificate}, err
}

func parseKey(text string) (*rsa.PrivateKey, error) {
	der, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(der) == 0 {
		return nil, errors.New("not in standard Base64 format")
	}
	private, err := x509.ParsePKCS1PrivateKey(der)
	if err != nil {
		other, err := x509.ParsePKCS8PrivateKey(der)
		var ok bool
		if private, ok = other.(*rsa.PrivateKey); err != nil || !ok {
			return nil, errors.New("not an RSA key in PKCS#1 or PKCS#8 format")
		}
	}
	switch {
	case private.E != 65537:
		return nil, errors.New("must have the RSA public exponent 65537")
	case private.N.BitLen() < 2048:
		return nil, errors.New("must be at least RSA 2048")
	}
	return private, nil
}

// encoded returns the certificate as metadata hold it.
func (k keyPair) encoded() string { return base64.StdEncoding.EncodeToString(k.certificate.Raw) }

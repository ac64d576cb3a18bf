package main

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"regexp"
	"strings"
)

// secrets returns values for secrets. Functions check the form of some of them while they start.
type secrets struct {
	public, private string // keys of Web Push
	account         string // of a Google service, as JSON
}

func newSecrets() (*secrets, error) {
	push, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "corpus", "client_email": "corpus@example.org",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	encoding := base64.RawURLEncoding
	return &secrets{
		encoding.EncodeToString(push.PublicKey().Bytes()), encoding.EncodeToString(push.Bytes()), string(account),
	}, err
}

// number matches the names of secrets that are numbers.
var number = regexp.MustCompile(
	`_(PORT|LIMIT|SIZE|ATTEMPTS|RETRIES|RATE|DAYS|HOURS|MINUTES|SECONDS|SEC|MS|MAX|COUNT|TTL)$|(^|_)MAX_`)

// of returns the value of the secret of this name, in the form that the name means.
func (s *secrets) of(name string) string {
	switch {
	case strings.Contains(name, "VAPID_PUBLIC"):
		return s.public
	case strings.Contains(name, "VAPID_PRIVATE"):
		return s.private
	case strings.Contains(name, "SERVICE_ACCOUNT"):
		return "'" + s.account + "'"
	case number.MatchString(name):
		return "1"
	}
	return "https://corpus.example.org"
}

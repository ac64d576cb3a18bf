// Package sso signs users in by single sign-on with SAML 2.0: the requests to identity providers,
// their responses, the metadata of this service, and the providers that administrators add.
package sso

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/redirect"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Config is the part of auth's configuration about SAML. A key is the base64 of an RSA key's DER
// (PKCS #1 or PKCS #8).
type Config struct {
	Enabled bool
	// PrivateKey signs the requests and opens encrypted assertions.
	PrivateKey string
	// NextKey is the key of a rotation: the metadata have its certificate, too, and it opens
	// encrypted assertions.
	NextKey string
	// AllowEncrypted accepts encrypted assertions.
	AllowEncrypted bool
	// RelayStateLife is how long the user may stay at the provider; 2 minutes when zero.
	RelayStateLife time.Duration
	// ExternalURL is the URL below which /sso/saml is.
	ExternalURL string
}

// Validate returns an error if SAML is enabled and the keys cannot be used.
func (c Config) Validate() error {
	if !c.Enabled {
		return nil
	}
	if c.RelayStateLife < 0 {
		return errors.New("SAML RelayState validity period should be a positive duration")
	}
	for _, key := range []string{c.PrivateKey, c.NextKey} {
		if key == "" && c.PrivateKey != "" {
			continue
		}
		if _, err := parseKey(key); err != nil {
			return fmt.Errorf("SAML private key: %w", err)
		}
	}
	return nil
}

// Person is the user that an assertion describes. The provider has verified the address.
type Person struct {
	Provider string // of the identity
	Subject  string
	Email    string
	Data     map[string]any // of the identity
}

// LinkAccount finds or makes the account of a person and calls the function in the same
// transaction.
type LinkAccount = func(*http.Request, Person,
	func(message.Tx, *store.User) (*session.TokenReply, error)) (*session.TokenReply, error)

// Options is what a Service needs.
type Options struct {
	DB        *pool.Pool // as supabase_auth_admin
	Store     *store.Store
	Sessions  *session.Manager
	Redirects *redirect.List
	Accounts  LinkAccount
	Client    *http.Client // for metadata
	Log       *slog.Logger
	Now       func() time.Time
	SiteURL   string
	Config    Config
}

// Service serves the endpoints.
type Service struct {
	Options

	base *url.URL // of /sso/saml
	key  keyPair  // empty while SAML is disabled
	next *keyPair // of a rotation
}

// New returns a Service. It returns an error if SAML is enabled and cannot work as configured.
func New(o Options) (*Service, error) {
	s := &Service{Options: o}
	s.Client = metadataClient(o.Client)
	if s.Config.RelayStateLife == 0 {
		s.Config.RelayStateLife = 2 * time.Minute
	}
	if !s.Config.Enabled {
		return s, nil
	}
	if err := s.Config.Validate(); err != nil {
		return nil, err
	}
	base, err := url.ParseRequestURI(s.Config.ExternalURL)
	if err != nil {
		return nil, fmt.Errorf("SAML needs the external URL of auth: %w", err)
	}
	base.Path = strings.TrimSuffix(base.Path, "/") + "/sso/saml/"
	s.base = base
	if s.key, err = newKeyPair(s.Config.PrivateKey, base.Hostname(), s.Config.AllowEncrypted); err != nil {
		return nil, err
	}
	if s.Config.NextKey != "" {
		next, err := newKeyPair(s.Config.NextKey, base.Hostname(), s.Config.AllowEncrypted)
		if err != nil {
			return nil, err
		}
		s.next = &next
	}
	return s, nil
}

// Enabled reports whether SAML is enabled.
func (s *Service) Enabled() bool { return s.Config.Enabled }

// Rotating reports whether the next key is configured.
func (s *Service) Rotating() bool { return s.next != nil }

// metadataClient returns client with a limit of redirects, which must lead to HTTPS.
func metadataClient(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 3 {
			return errors.New("redirects must lead to HTTPS, at most three times")
		}
		return nil
	}
	return &c
}

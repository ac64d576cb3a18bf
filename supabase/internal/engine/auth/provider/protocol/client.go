// Package protocol holds the rules of OAuth 2.1 for applications that sign users in: what an
// application may register, how it authenticates, and what it may request. It uses neither the
// database nor HTTP.
package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The kinds of clients (RFC 6749, section 2.1) and of their authentication (RFC 7591, section 2).
const (
	Public       = "public"       // cannot keep a secret: an application in a browser or on a phone
	Confidential = "confidential" // a server

	AuthNone  = "none"
	AuthBasic = "client_secret_basic"
	AuthPost  = "client_secret_post"
)

// The grants for which an application may register.
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
)

// Client is an application, a row of auth.oauth_clients. Its JSON is the reply to administrators
// and to the application itself.
type Client struct {
	ID           uuid.UUID `json:"client_id" db:"id"`
	Secret       string    `json:"client_secret,omitempty" db:"-"`            // in clear, in the reply that creates it only
	SecretEnds   *int64    `json:"client_secret_expires_at,omitempty" db:"-"` // 0 (never), beside Secret
	SecretHash   string    `json:"-" db:"client_secret_hash"`
	Type         string    `json:"client_type" db:"client_type"`
	RedirectURIs []string  `json:"redirect_uris" db:"redirect_uris"`
	AuthMethod   string    `json:"token_endpoint_auth_method" db:"token_endpoint_auth_method"`
	Grants       []string  `json:"grant_types" db:"grant_types"`
	Responses    []string  `json:"response_types" db:"-"`
	Name         string    `json:"client_name,omitempty" db:"client_name"`
	URI          string    `json:"client_uri,omitempty" db:"client_uri"`
	LogoURI      string    `json:"logo_uri,omitempty" db:"logo_uri"`
	Registration string    `json:"registration_type" db:"registration_type"` // manual or dynamic
	CreatedAt    time.Time `json:"created_at" db:"created_at"`
	UpdatedAt    time.Time `json:"updated_at" db:"updated_at"`
}

// Metadata is the content of a registration or a change; members that were not sent are nil.
type Metadata struct {
	RedirectURIs *[]string `json:"redirect_uris"`
	ClientType   *string   `json:"client_type"` // of a registration only
	AuthMethod   *string   `json:"token_endpoint_auth_method"`
	Grants       *[]string `json:"grant_types"`
	Name         *string   `json:"client_name"`
	URI          *string   `json:"client_uri"`
	LogoURI      *string   `json:"logo_uri"`
}

// Register returns a new client. Its Secret is not stored anywhere. The client sees the error.
func Register(m Metadata, registration string, now time.Time) (Client, error) {
	c := Client{ID: uuid.New(), Registration: registration, Type: Confidential, Responses: []string{"code"},
		CreatedAt: now}
	kind, method := value(m.ClientType), value(m.AuthMethod)
	switch {
	case kind != "" && kind != Public && kind != Confidential:
		return c, fmt.Errorf("client_type must be '%s' or '%s'", Public, Confidential)
	case kind != "":
		c.Type = kind
	case method == AuthNone:
		c.Type = Public
	}
	c.AuthMethod = AuthBasic
	if c.Type == Public {
		c.AuthMethod = AuthNone
	}
	c.Grants = []string{GrantCode, GrantRefresh}
	if m.RedirectURIs == nil {
		return c, errors.New("redirect_uris is required")
	}
	if m.Grants != nil && len(*m.Grants) == 0 {
		m.Grants = nil
	}
	if method == "" {
		m.AuthMethod = nil
	}
	if err := c.Change(m, now); err != nil {
		return c, err
	}
	if c.Type == Confidential {
		c.NewSecret()
	}
	return c, nil
}

// Change applies m. The client sees the error, after which c must not be stored.
func (c *Client) Change(m Metadata, now time.Time) error {
	if m.RedirectURIs != nil {
		if err := checkRedirectURIs(*m.RedirectURIs); err != nil {
			return err
		}
		c.RedirectURIs = *m.RedirectURIs
	}
	if m.Grants != nil {
		if len(*m.Grants) == 0 {
			return errors.New("grant_types cannot be empty")
		}
		for _, g := range *m.Grants {
			if g != GrantCode && g != GrantRefresh {
				return fmt.Errorf("grant_types must only contain '%s' and/or '%s'", GrantCode, GrantRefresh)
			}
		}
		c.Grants = *m.Grants
	}
	if m.AuthMethod != nil {
		if fits := authMethods(c.Type); !slices.Contains(fits, *m.AuthMethod) {
			return fmt.Errorf("token_endpoint_auth_method '%s' is not valid for client_type '%s'; valid methods: %v",
				*m.AuthMethod, c.Type, fits)
		}
		c.AuthMethod = *m.AuthMethod
	}
	if m.Name != nil {
		if len(*m.Name) > 1024 {
			return errors.New("client_name cannot exceed 1024 characters")
		}
		if !printable(*m.Name) {
			return errors.New("client_name must be text without control characters")
		}
		c.Name = *m.Name
	}
	for _, page := range []struct {
		name string
		said *string
		into *string
	}{{"client_uri", m.URI, &c.URI}, {"logo_uri", m.LogoURI, &c.LogoURI}} {
		if page.said == nil {
			continue
		}
		if err := checkPage(page.name, *page.said); err != nil {
			return err
		}
		*page.into = *page.said
	}
	c.UpdatedAt = now
	return nil
}

// Empty reports whether m changes nothing.
func (m Metadata) Empty() bool {
	return m.RedirectURIs == nil && m.Grants == nil && m.AuthMethod == nil && m.Name == nil && m.URI == nil &&
		m.LogoURI == nil
}

// NewSecret replaces the secret of a confidential client.
func (c *Client) NewSecret() {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	c.Secret, c.SecretEnds = base64.RawURLEncoding.EncodeToString(raw), new(int64)
	c.SecretHash = hash(c.Secret)
}

// hash returns the stored form of a secret. Secrets are 32 random bytes, so a fast hash is enough.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Authenticate checks the authentication of a client, which must use the method that it has
// registered. The client sees the error.
func (c *Client) Authenticate(method, secret string) error {
	if method != c.AuthMethod {
		return fmt.Errorf("invalid authentication method: client is registered for '%s' but '%s' was used",
			c.AuthMethod, method)
	}
	if c.Type == Public {
		return nil
	}
	if subtle.ConstantTimeCompare([]byte(hash(secret)), []byte(c.SecretHash)) != 1 {
		return errors.New("invalid client credentials")
	}
	return nil
}

func authMethods(kind string) []string {
	if kind == Public {
		return []string{AuthNone}
	}
	return []string{AuthBasic, AuthPost}
}

// checkPage returns an error unless text is the URL of a web page, because the consent page links
// to it and a script would run there.
func checkPage(name, text string) error {
	if text == "" {
		return nil
	}
	if len(text) > 2048 {
		return fmt.Errorf("%s cannot exceed 2048 characters", name)
	}
	u, err := url.Parse(text)
	if err != nil || !printable(text) || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s must be a valid URL", name)
	}
	return nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func checkRedirectURIs(uris []string) error {
	if len(uris) == 0 {
		return errors.New("redirect_uris cannot be empty")
	}
	if len(uris) > 10 {
		return errors.New("redirect_uris cannot exceed 10 items")
	}
	for _, uri := range uris {
		if err := checkRedirectURI(uri); err != nil {
			return fmt.Errorf("invalid redirect_uri '%s': %w", uri, err)
		}
	}
	return nil
}

// checkRedirectURI accepts absolute URIs without a fragment (RFC 6749, section 3.1.2), and http for
// this machine only (RFC 8252, section 7.3). Other schemes belong to native applications, except
// those that browsers execute.
func checkRedirectURI(uri string) error {
	u, err := url.Parse(uri)
	switch {
	case err != nil || !printable(uri):
		return errors.New("invalid URL format")
	case u.Scheme == "" || u.Host == "":
		return errors.New("must have scheme and host")
	case slices.Contains([]string{"javascript", "data", "file", "vbscript", "about", "blob"}, u.Scheme):
		return fmt.Errorf("scheme '%s' is not allowed for security reasons", u.Scheme)
	case u.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return errors.New("HTTP scheme only allowed for localhost")
	case strings.Contains(uri, "#"):
		return errors.New("fragment not allowed in redirect URI")
	case u.User != nil:
		return errors.New("user information not allowed in redirect URI") // it can disguise the host
	case strings.Contains(uri, ","):
		return errors.New("comma not allowed in redirect URI") // the column separates URIs by commas
	case len(uri) > 2048:
		return errors.New("cannot exceed 2048 characters")
	}
	return nil
}

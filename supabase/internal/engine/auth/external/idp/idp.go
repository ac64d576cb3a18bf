// Package idp is a client of other identity providers: it sends users there, exchanges the codes
// with which they come back, and reads who they are. Providers with OpenID Connect are configured
// by discovery, the others by a table of addresses and member names.
package idp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Config is the configuration of a provider.
type Config struct {
	ClientIDs      []string // the first one signs in; ID tokens for all of them are accepted
	Secret         string
	RedirectURI    string // where the provider sends users back: auth's /callback
	URL            string // address of a self-hosted provider; the OIDC issuer of an unknown name
	SkipNonceCheck bool
	EmailOptional  bool // users without an address may sign in
}

// Email is an address at the provider.
type Email struct {
	Address           string
	Verified, Primary bool
}

// Person is the user at the provider.
type Person struct {
	Subject string
	Emails  []Email
	Data    map[string]any // identity_data: sub, name, avatar_url, …
}

// Token holds the provider's tokens, with which clients may call its API.
type Token struct {
	Access, Refresh string
	source          *oauth2.Token
}

var (
	// ErrUnknown: the provider is unknown or not enabled.
	ErrUnknown = errors.New("the provider is not known or not enabled")
	// ErrToken: an ID token was refused. The text says why.
	ErrToken = errors.New("bad ID token")
)

// Registry holds the providers of an installation.
type Registry struct {
	configs map[string]Config
	client  *http.Client
	safe    *http.Client // for providers that administrators add while the server runs
	now     func() time.Time

	mu         sync.Mutex
	discovered map[string]discovery
}

type discovery struct {
	provider *oidc.Provider
	until    time.Time
}

// discoveryLife is the time for which a discovery document is cached.
const discoveryLife = time.Hour

// New returns a Registry of the enabled providers. client calls all providers. If it is nil, the
// configured ones are called with a time limit, and administrators' providers by SafeTransport
// only.
func New(configs map[string]Config, client *http.Client, now func() time.Time) *Registry {
	r := &Registry{configs: configs, client: client, safe: client, now: now, discovered: map[string]discovery{}}
	if client == nil {
		r.client = &http.Client{Timeout: 10 * time.Second}
		r.safe = &http.Client{Timeout: 10 * time.Second, Transport: SafeTransport()}
	}
	return r
}

// Enabled reports whether the provider is configured.
func (r *Registry) Enabled(name string) bool { _, ok := r.configs[name]; return ok }

// Provider is a provider in one sign-in.
type Provider struct {
	Name   string
	Config Config
	preset preset
	custom *Custom        // nil for a configured provider
	oidc   *oidc.Provider // nil for a provider without OpenID Connect
	oauth  oauth2.Config
	r      *Registry
	client *http.Client
}

// Provider returns a configured provider. If it has OpenID Connect, its discovery document is read,
// unless it is cached. scopes are added to the provider's own.
func (r *Registry) Provider(ctx context.Context, name, scopes string) (*Provider, error) {
	name = strings.ToLower(name)
	config, ok := r.configs[name]
	if !ok || len(config.ClientIDs) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	p := &Provider{Name: name, Config: config, preset: presetFor(name, config), r: r, client: r.client}
	p.oauth = oauth2.Config{
		ClientID: config.ClientIDs[0], ClientSecret: config.Secret, RedirectURL: config.RedirectURI,
		Endpoint: oauth2.Endpoint{AuthURL: p.preset.authURL, TokenURL: p.preset.tokenURL},
		Scopes:   slices.Clone(p.preset.scopes),
	}
	if p.preset.issuer != "" {
		var err error
		if p.oidc, err = r.discover(ctx, p.preset); err != nil {
			return nil, err
		}
		p.oauth.Endpoint = p.oidc.Endpoint()
	}
	for _, s := range strings.FieldsFunc(scopes, func(c rune) bool { return c == ' ' || c == ',' }) {
		if !slices.Contains(p.oauth.Scopes, s) {
			p.oauth.Scopes = append(p.oauth.Scopes, s)
		}
	}
	return p, nil
}

func (r *Registry) discover(ctx context.Context, of preset) (*oidc.Provider, error) {
	return r.cached(of.issuer, func() (*oidc.Provider, error) {
		// oidc keeps the context to fetch keys later, so it must not end with the request.
		ctx := oidc.ClientContext(context.WithoutCancel(ctx), r.client)
		if of.manyIssuers() {
			ctx = oidc.InsecureIssuerURLContext(ctx, of.issuer) // verify checks the issuer of each token
		}
		p, err := oidc.NewProvider(ctx, of.issuer)
		if err == nil && len(of.issuers) > 0 {
			var doc discoveryDocument
			if err = p.Claims(&doc); err == nil && !of.issuedBy(doc.Issuer, nil) {
				err = fmt.Errorf("it names the issuer %q", doc.Issuer)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("discovery of %s: %w", of.issuer, err)
		}
		return p, nil
	})
}

// cached returns the cached discovery of what, or calls discover.
func (r *Registry) cached(what string, discover func() (*oidc.Provider, error)) (*oidc.Provider, error) {
	r.mu.Lock()
	known, ok := r.discovered[what]
	r.mu.Unlock()
	if ok && r.now().Before(known.until) {
		return known.provider, nil
	}
	p, err := discover()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.discovered[what] = discovery{p, r.now().Add(discoveryLife)}
	r.mu.Unlock()
	return p, nil
}

// AuthURL returns the URL to which the user is sent. verifier is the code verifier (RFC 7636), ""
// for none; extra are more parameters.
func (p *Provider) AuthURL(state, verifier string, extra map[string]string) string {
	var options []oauth2.AuthCodeOption
	for name, value := range p.preset.params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	for name, value := range extra {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	if verifier != "" {
		options = append(options, oauth2.S256ChallengeOption(verifier))
	}
	return p.oauth.AuthCodeURL(state, options...)
}

// ProofKey reports whether the provider needs a code challenge.
func (p *Provider) ProofKey() bool { return p.preset.proofKey }

// Exchange exchanges a code for the provider's tokens.
func (p *Provider) Exchange(ctx context.Context, code, verifier string) (Token, error) {
	var options []oauth2.AuthCodeOption
	if verifier != "" {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	t, err := p.oauth.Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), code, options...)
	if err != nil {
		return Token{}, err
	}
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, source: t}, nil
}

// Person returns the user, from the ID token or the API of the provider. A user without an id is an
// error, because all of them would be one account.
func (p *Provider) Person(ctx context.Context, t Token) (Person, error) {
	person, err := p.read(ctx, t)
	if err == nil && person.Subject == "" {
		err = fmt.Errorf("%s does not say who signed in", p.Name)
	}
	return person, err
}

func (p *Provider) read(ctx context.Context, t Token) (Person, error) {
	if p.oidc != nil {
		if raw, ok := t.source.Extra("id_token").(string); ok && raw != "" {
			return p.VerifyIDToken(ctx, raw, "", true)
		}
		info, err := p.oidc.UserInfo(oidc.ClientContext(ctx, p.client), oauth2.StaticTokenSource(t.source))
		if err != nil {
			return Person{}, err
		}
		var claims map[string]any
		if err := info.Claims(&claims); err != nil {
			return Person{}, err
		}
		return p.person(p.preset.issuer, claims), nil
	}
	return p.preset.read(ctx, func(ctx context.Context, url string, into any) error { return p.get(ctx, t, url, into) })
}

func (p *Provider) person(issuer string, claims map[string]any) Person {
	if p.custom != nil {
		return p.custom.person(issuer, claims)
	}
	person := personOf(p.Name, issuer, claims)
	if _, told := claims["xms_edov"]; p.preset.tenants != "" && !told {
		// Any organisation can set the addresses of its users, so they count as unverified.
		for i := range person.Emails {
			person.Emails[i].Verified = false
		}
	}
	return person
}

// get calls the provider's API with the user's token.
func (p *Provider) get(ctx context.Context, t Token, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+t.Access)
	request.Header.Set("Accept", "application/json")
	if p.preset.clientIDHeader != "" {
		request.Header.Set(p.preset.clientIDHeader, p.Config.ClientIDs[0])
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %d", p.Name, response.StatusCode)
	}
	return json.Unmarshal(body, into)
}

// VerifyIDToken checks an ID token: signature, issuer, expiry, audience and, unless skipped, the
// nonce, which the token holds as hex SHA-256. An invalid token is an ErrToken.
func (p *Provider) VerifyIDToken(ctx context.Context, raw, nonce string, skipNonce bool) (Person, error) {
	t, claims, err := p.verify(ctx, raw)
	if err != nil {
		return Person{}, err
	}
	if !skipNonce && !p.Config.SkipNonceCheck && p.preset.idTokens == "" {
		if (t.Nonce == "") != (nonce == "") {
			return Person{}, fmt.Errorf("%w: Passed nonce and nonce in id_token should either both exist or not",
				ErrToken)
		}
		if sum := sha256.Sum256([]byte(nonce)); nonce != "" && hex.EncodeToString(sum[:]) != t.Nonce {
			return Person{}, fmt.Errorf("%w: Nonces mismatch", ErrToken)
		}
	}
	return p.person(t.Issuer, claims), nil
}

// CheckAccessToken checks that the access token belongs to the ID token, if that has an at_hash.
func (p *Provider) CheckAccessToken(ctx context.Context, raw, access string) error {
	t, _, err := p.verify(ctx, raw)
	if err != nil || t.AccessTokenHash == "" {
		return err
	}
	if err := t.VerifyAccessToken(access); err != nil {
		return fmt.Errorf("%w: %w", ErrToken, err)
	}
	return nil
}

func (p *Provider) verify(ctx context.Context, raw string) (*oidc.IDToken, map[string]any, error) {
	issuer := p.oidc
	if issuer == nil {
		if p.preset.idTokens == "" {
			return nil, nil, fmt.Errorf("%w: %s has no ID tokens", ErrToken, p.Name)
		}
		var err error
		if issuer, err = p.r.discover(ctx, preset{issuer: p.preset.idTokens}); err != nil {
			return nil, nil, err
		}
	}
	verifier := issuer.Verifier(&oidc.Config{SkipClientIDCheck: true, SkipIssuerCheck: p.preset.manyIssuers(),
		Now: p.r.now})
	t, err := verifier.Verify(oidc.ClientContext(ctx, p.client), raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !slices.ContainsFunc(p.Config.ClientIDs,
		func(id string) bool { return id != "" && slices.Contains(t.Audience, id) }) {
		return nil, nil, fmt.Errorf("%w: Unacceptable audience in id_token: %v", ErrToken, t.Audience)
	}
	if t.Subject == "" {
		return nil, nil, fmt.Errorf("%w: Missing sub claim in id_token", ErrToken)
	}
	var claims map[string]any
	if err := t.Claims(&claims); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if p.preset.manyIssuers() && !p.preset.issuedBy(t.Issuer, claims) {
		return nil, nil, fmt.Errorf("%w: issued by %q, which is no name of the provider or of the token's tenant",
			ErrToken, t.Issuer)
	}
	return t, claims, nil
}

// Package oauth knows other providers of identities: how to send a person there, how to trade the code that they come
// back with, and how to read who they are. Providers that speak OpenID Connect are read by discovery; the others are a
// table of addresses and member names.
//
// Only app, auth and auth/gotrue import it. It imports nothing of ours and touches no database.
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

// Config is what an installation knows of a provider.
type Config struct {
	ClientIDs      []string // the first one signs in; id tokens for any of them are taken
	Secret         string
	RedirectURI    string // where the provider sends people back: auth's /callback
	URL            string // the provider's own address, where there is more than one; an OIDC issuer for unknown names
	SkipNonceCheck bool
	EmailOptional  bool // sign in although the provider names no address
}

// Email is an address as the provider knows it.
type Email struct {
	Address           string
	Verified, Primary bool
}

// Person is who signed in.
type Person struct {
	Subject string
	Emails  []Email
	Data    map[string]any // identity_data: sub, name, avatar_url, …
}

// Token is what the provider gave; clients may call the provider's API with it.
type Token struct {
	Access, Refresh string
	source          *oauth2.Token
}

var (
	// ErrUnknown means that there is no such provider, or that it is not enabled.
	ErrUnknown = errors.New("the provider is not known or not enabled")
	// ErrToken means that an id token was refused; the text says why.
	ErrToken = errors.New("bad ID token")
)

// Registry gives providers by name.
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

// discoveryLife is how long a discovery document is believed.
const discoveryLife = time.Hour

// New makes a Registry of the enabled providers. client asks those, and every other as well; nil means one with a time limit
// for those and one that reaches public addresses only for the others.
func New(configs map[string]Config, client *http.Client, now func() time.Time) *Registry {
	r := &Registry{configs: configs, client: client, safe: client, now: now, discovered: map[string]discovery{}}
	if client == nil {
		r.client = &http.Client{Timeout: 10 * time.Second}
		r.safe = &http.Client{Timeout: 10 * time.Second, Transport: SafeTransport()}
	}
	return r
}

// Enabled says whether people may sign in with the provider.
func (r *Registry) Enabled(name string) bool { _, ok := r.configs[name]; return ok }

// Provider is one of them.
type Provider struct {
	Name   string
	Config Config
	preset preset
	custom *Custom        // nil for those that the installation configures
	oidc   *oidc.Provider // nil for those of the table
	oauth  oauth2.Config
	r      *Registry
	client *http.Client
}

// Provider finds one and, when it speaks OpenID Connect, reads its discovery document.
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
	return r.remembered(of.issuer, func() (*oidc.Provider, error) {
		// The provider keeps the context for fetching keys later: it must not end with this request.
		ctx := oidc.ClientContext(context.WithoutCancel(ctx), r.client)
		if of.manyIssuers() {
			ctx = oidc.InsecureIssuerURLContext(ctx, of.issuer) // verify looks at each token's issuer
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

// remembered discovers what was not discovered lately.
func (r *Registry) remembered(what string, discover func() (*oidc.Provider, error)) (*oidc.Provider, error) {
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

// AuthURL is where to send the person. verifier is the proof key (RFC 7636), "" for none; extra are further parameters.
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

// ProofKey says whether the provider wants one from us.
func (p *Provider) ProofKey() bool { return p.preset.proofKey }

// Exchange trades a code.
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

// Person reads who signed in: from the id token, or by asking the provider's API. Somebody without a name there is nobody:
// all such people would be one here.
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
		// Anybody may have an organisation and write anybody's address into it.
		for i := range person.Emails {
			person.Emails[i].Verified = false
		}
	}
	return person
}

// get asks the provider's API as the person.
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

// VerifyIDToken checks an id token: signature, issuer, expiry, audience and, unless skipped, the nonce, which the token
// carries as the hex SHA-256 of the given one. What is wrong with the token is an ErrToken.
func (p *Provider) VerifyIDToken(ctx context.Context, raw, nonce string, skipNonce bool) (Person, error) {
	t, claims, err := p.verify(ctx, raw)
	if err != nil {
		return Person{}, err
	}
	if !skipNonce && !p.Config.SkipNonceCheck && p.preset.idTokens == "" {
		if (t.Nonce == "") != (nonce == "") {
			return Person{}, fmt.Errorf("%w: Passed nonce and nonce in id_token should either both exist or not", ErrToken)
		}
		if sum := sha256.Sum256([]byte(nonce)); nonce != "" && hex.EncodeToString(sum[:]) != t.Nonce {
			return Person{}, fmt.Errorf("%w: Nonces mismatch", ErrToken)
		}
	}
	return p.person(t.Issuer, claims), nil
}

// CheckAccessToken checks that the access token belongs to the id token, where that says so (at_hash).
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
	verifier := issuer.Verifier(&oidc.Config{SkipClientIDCheck: true, SkipIssuerCheck: p.preset.manyIssuers(), Now: p.r.now})
	t, err := verifier.Verify(oidc.ClientContext(ctx, p.client), raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !slices.ContainsFunc(p.Config.ClientIDs, func(id string) bool { return id != "" && slices.Contains(t.Audience, id) }) {
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
		return nil, nil, fmt.Errorf("%w: issued by %q, which is no name of the provider or of the token's tenant", ErrToken, t.Issuer)
	}
	return t, claims, nil
}

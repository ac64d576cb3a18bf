// Package idp is a client of other identity providers: it sends users there, exchanges the codes
// with which they come back, and reads who they are. A table describes the known providers; further
// ones with OpenID Connect are configured by discovery.
package idp

import (
	"context"
	"errors"
	"fmt"
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
	Audiences      []string // further ids for which ID tokens are accepted
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
	secret          string // of OAuth 1.0a
	source          *oauth2.Token
}

var (
	// ErrUnknown: the provider is unknown or not enabled.
	ErrUnknown = errors.New("the provider is not known or not enabled")
	// ErrIncomplete: the provider's configuration lacks a value. The text says which.
	ErrIncomplete = errors.New("incomplete configuration")
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

// Incomplete returns the providers that are configured without a value that each sign-in needs, and
// what is missing.
func (r *Registry) Incomplete() map[string]error {
	missing := map[string]error{}
	for name, config := range r.configs {
		if err := config.incomplete(name); err != nil {
			missing[name] = err
		}
	}
	return missing
}

func (c Config) incomplete(name string) error {
	if len(c.ClientIDs)+len(c.Audiences) == 0 {
		return fmt.Errorf("%w: missing OAuth client ID", ErrIncomplete)
	}
	if e := entryOf(name, c); c.URL == "" && e.issuer.host == "" && e.auth.host == "" {
		return fmt.Errorf("%w: unable to find URL for the provider %s", ErrIncomplete, name)
	}
	return nil
}

// Provider is a provider in one sign-in.
type Provider struct {
	Name   string
	Config Config
	entry  entry
	custom *Custom        // nil for a configured provider
	oidc   *oidc.Provider // nil for a provider without OpenID Connect
	oauth  oauth2.Config
	r      *Registry
	client *http.Client
}

// Provider returns a configured provider. If its addresses or its ID tokens need a discovery
// document, that is read, unless it is cached. scopes are added to the provider's own.
func (r *Registry) Provider(ctx context.Context, name, scopes string) (*Provider, error) {
	name = strings.ToLower(name)
	config, ok := r.configs[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	if err := config.incomplete(name); err != nil {
		return nil, err
	}
	e := entryOf(name, config)
	p := &Provider{Name: name, Config: config, entry: e, r: r, client: r.client}
	p.oauth = oauth2.Config{
		ClientSecret: config.Secret, RedirectURL: config.RedirectURI,
		Endpoint: oauth2.Endpoint{AuthURL: e.auth.at(config.URL), TokenURL: e.token.at(config.URL)},
		Scopes:   slices.Clone(e.scopes),
	}
	if len(config.ClientIDs) > 0 {
		p.oauth.ClientID = config.ClientIDs[0]
	}
	p.Config.EmailOptional = config.EmailOptional || e.emailOptional
	if e.inBody {
		p.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	if e.openID {
		var err error
		if p.oidc, err = r.discover(ctx, e, e.issuer.at(config.URL)); err != nil {
			return nil, err
		}
		if e.auth == (place{}) {
			p.oauth.Endpoint = p.oidc.Endpoint()
		}
	}
	for _, s := range strings.FieldsFunc(scopes, func(c rune) bool { return c == ' ' || c == ',' }) {
		if !e.ownScopes && !slices.Contains(p.oauth.Scopes, s) {
			p.oauth.Scopes = append(p.oauth.Scopes, s)
		}
	}
	return p, nil
}

// Issuer returns the provider of an issuer that has no configuration, for ID tokens of one client.
func (r *Registry) Issuer(ctx context.Context, issuer, clientID string) (*Provider, error) {
	p := &Provider{Name: issuer, Config: Config{ClientIDs: []string{clientID}}, entry: entryOf("", Config{}), r: r,
		client: r.client}
	var err error
	p.oidc, err = r.discover(ctx, p.entry, issuer)
	return p, err
}

// NameOf returns the known provider that issues ID tokens under this name, or "".
func (r *Registry) NameOf(issuer string) string {
	for name, e := range entries {
		e.issuers = append(e.issuers, e.issuer.at(""))
		if name == "keycloak" {
			e.issuers = []string{strings.TrimSuffix(r.configs[name].URL, "/")}
		}
		if issuer != "" && !e.browser && (slices.Contains(e.issuers, issuer) || name == "azure" && ofAzure(issuer)) {
			return name
		}
	}
	return ""
}

func (r *Registry) discover(ctx context.Context, of entry, issuer string) (*oidc.Provider, error) {
	return r.cached(issuer, func() (*oidc.Provider, error) {
		// oidc keeps the context to fetch keys later, so it must not end with the request.
		ctx := oidc.ClientContext(context.WithoutCancel(ctx), r.client)
		if of.manyIssuers() {
			ctx = oidc.InsecureIssuerURLContext(ctx, issuer) // verify checks the issuer of each token
		}
		p, err := oidc.NewProvider(ctx, issuer)
		if err == nil && len(of.issuers) > 0 {
			var doc discoveryDocument
			if err = p.Claims(&doc); err == nil && !of.issuedBy(doc.Issuer, nil) {
				err = fmt.Errorf("it names the issuer %q", doc.Issuer)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("discovery of %s: %w", issuer, err)
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

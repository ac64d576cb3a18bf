package idp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"daawo/supabase/internal/base/network"
)

// CustomPrefix is the prefix of the names of providers that administrators add.
const CustomPrefix = "custom:"

// The kinds of custom providers.
const (
	kindOAuth2 = "oauth2"
	kindOIDC   = "oidc"
)

// Custom is a provider that an administrator has added, a row of auth.custom_oauth_providers. Its
// JSON is the reply to administrators.
type Custom struct {
	ID         uuid.UUID `json:"id" db:"id"`
	Kind       string    `json:"provider_type" db:"provider_type"`
	Identifier string    `json:"identifier" db:"identifier"`
	Name       string    `json:"name" db:"name"`
	ClientID   string    `json:"client_id" db:"client_id"`
	Secret     string    `json:"-" db:"client_secret"`
	// more audiences of ID tokens
	ClientIDs []string `json:"acceptable_client_ids" db:"acceptable_client_ids"`
	Scopes    []string `json:"scopes" db:"scopes"`
	ProofKey  bool     `json:"pkce_enabled" db:"pkce_enabled"`
	// our member → their member, or a value
	Attributes     map[string]any  `json:"attribute_mapping" db:"attribute_mapping"`
	Claims         []string        `json:"custom_claims_allowlist" db:"custom_claims_allowlist"`
	Params         map[string]any  `json:"authorization_params" db:"authorization_params"` // texts
	Enabled        bool            `json:"enabled" db:"enabled"`
	EmailOptional  bool            `json:"email_optional" db:"email_optional"`
	Issuer         *string         `json:"issuer,omitempty" db:"issuer"`
	DiscoveryURL   *string         `json:"discovery_url,omitempty" db:"discovery_url"`
	SkipNonceCheck bool            `json:"skip_nonce_check" db:"skip_nonce_check"`
	Discovery      json.RawMessage `json:"discovery_document,omitempty" db:"cached_discovery"`
	AuthURL        *string         `json:"authorization_url,omitempty" db:"authorization_url"`
	TokenURL       *string         `json:"token_url,omitempty" db:"token_url"`
	UserinfoURL    *string         `json:"userinfo_url,omitempty" db:"userinfo_url"`
	JWKSURI        *string         `json:"jwks_uri,omitempty" db:"jwks_uri"`
	CreatedAt      time.Time       `json:"created_at" db:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at" db:"updated_at"`
}

// Description is what an administrator sends about a provider; members that were not sent are nil.
type Description struct {
	Kind           string         `json:"provider_type"` // of a new provider only
	Identifier     string         `json:"identifier"`    // of a new provider only
	Name           *string        `json:"name"`
	ClientID       *string        `json:"client_id"`
	Secret         *string        `json:"client_secret"`
	ClientIDs      []string       `json:"acceptable_client_ids"`
	Scopes         []string       `json:"scopes"`
	ProofKey       *bool          `json:"pkce_enabled"`
	Attributes     map[string]any `json:"attribute_mapping"`
	Claims         []string       `json:"custom_claims_allowlist"`
	Params         map[string]any `json:"authorization_params"`
	Enabled        *bool          `json:"enabled"`
	EmailOptional  *bool          `json:"email_optional"`
	Issuer         *string        `json:"issuer"`
	DiscoveryURL   *string        `json:"discovery_url"`
	SkipNonceCheck *bool          `json:"skip_nonce_check"`
	AuthURL        *string        `json:"authorization_url"`
	TokenURL       *string        `json:"token_url"`
	UserinfoURL    *string        `json:"userinfo_url"`
	JWKSURI        *string        `json:"jwks_uri"`
}

var identifierForm = regexp.MustCompile(`^custom:[a-z0-9:-]{0,42}[a-z0-9]$`)

// NewCustom returns a new provider. Administrators see the error.
func NewCustom(d Description, now time.Time) (Custom, error) {
	c := Custom{
		ID: uuid.New(), Kind: d.Kind, Identifier: d.Identifier, ProofKey: true, Enabled: true, CreatedAt: now,
		ClientIDs: []string{}, Scopes: []string{}, Claims: []string{}, Attributes: map[string]any{},
		Params: map[string]any{},
	}
	if d.Kind != kindOAuth2 && d.Kind != kindOIDC {
		return c, errors.New("provider_type must be either 'oauth2' or 'oidc'")
	}
	if !strings.HasPrefix(d.Identifier, CustomPrefix) {
		return c, fmt.Errorf("identifier must start with 'custom:' prefix, e.g. 'custom:%s'", d.Identifier)
	}
	if !identifierForm.MatchString(d.Identifier) {
		return c, errors.New("identifier may have 50 lower case letters, digits, colons and hyphens")
	}
	if d.Scopes == nil {
		d.Scopes = []string{}
	}
	if err := c.Change(d, now); err != nil {
		return c, err
	}
	required := map[string]*string{"name": &c.Name, "client_id": &c.ClientID, "client_secret": &c.Secret}
	if c.Kind == kindOIDC {
		required["issuer"] = c.Issuer
	} else {
		required["authorization_url"], required["token_url"], required["userinfo_url"] = c.AuthURL, c.TokenURL,
			c.UserinfoURL
	}
	for _, name := range slices.Sorted(maps.Keys(required)) {
		if v := required[name]; v == nil || *v == "" {
			return c, fmt.Errorf("%s is required", name)
		}
	}
	return c, nil
}

// Change applies d. Administrators see the error, after which c must not be stored.
func (c *Custom) Change(d Description, now time.Time) error {
	for _, t := range []struct {
		name string
		said *string
		into *string
		most int
	}{{"name", d.Name, &c.Name, 100}, {"client_id", d.ClientID, &c.ClientID, 512},
		{"client_secret", d.Secret, &c.Secret, 4096}} {
		if t.said == nil || *t.said == "" {
			continue
		}
		if len(*t.said) > t.most {
			return fmt.Errorf("%s cannot exceed %d characters", t.name, t.most)
		}
		*t.into = *t.said
	}
	urls := []urlChange{{"issuer", d.Issuer, &c.Issuer}, {"discovery_url", d.DiscoveryURL, &c.DiscoveryURL}}
	if c.Kind == kindOAuth2 {
		urls = []urlChange{
			{"authorization_url", d.AuthURL, &c.AuthURL}, {"token_url", d.TokenURL, &c.TokenURL},
			{"userinfo_url", d.UserinfoURL, &c.UserinfoURL}, {"jwks_uri", d.JWKSURI, &c.JWKSURI},
		}
	}
	for _, p := range urls {
		if err := p.apply(); err != nil {
			return err
		}
	}
	if err := c.changeMappings(d); err != nil {
		return err
	}
	if d.ClientIDs != nil {
		c.ClientIDs = d.ClientIDs
	}
	if d.Scopes != nil {
		c.Scopes = d.Scopes
		if c.Kind == kindOIDC && !slices.Contains(c.Scopes, "openid") {
			c.Scopes = append([]string{"openid"}, c.Scopes...)
		}
	}
	for _, f := range []struct{ said, into *bool }{
		{d.ProofKey, &c.ProofKey}, {d.Enabled, &c.Enabled}, {d.EmailOptional, &c.EmailOptional},
		{d.SkipNonceCheck, &c.SkipNonceCheck},
	} {
		if f.said != nil {
			*f.into = *f.said
		}
	}
	c.UpdatedAt = now
	return nil
}

// protectedFields are members that a provider must not set: the identity and rights of a user here,
// and the verification of contacts.
var protectedFields = []string{
	"id", "aud", "role", "app_metadata", "created_at", "updated_at", "confirmed_at", "email_confirmed_at",
	"phone_confirmed_at", "email_verified", "phone_verified", "banned_until", "is_super_admin",
}

// flowParams are parameters of the authorization URL that belong to the flow.
var flowParams = []string{
	"client_id", "client_secret", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method",
	"code_verifier", "nonce",
}

func (c *Custom) changeMappings(d Description) error {
	for target := range d.Attributes {
		if slices.Contains(protectedFields, target) {
			return fmt.Errorf("cannot map to protected system field: %s", target)
		}
	}
	for name, value := range d.Params {
		if slices.Contains(flowParams, name) {
			return fmt.Errorf("cannot override reserved OAuth parameter: %s", name)
		}
		if _, ok := value.(string); !ok {
			return fmt.Errorf("authorization parameter %q must be a string", name)
		}
	}
	if slices.ContainsFunc(d.Claims, func(name string) bool { return strings.TrimSpace(name) == "" }) {
		return errors.New("custom_claims_allowlist entries must be non-empty strings")
	}
	if d.Attributes != nil {
		c.Attributes = d.Attributes
	}
	if d.Params != nil {
		c.Params = d.Params
	}
	if d.Claims != nil {
		c.Claims = d.Claims
	}
	return nil
}

// urlChange is the change of a URL.
type urlChange struct {
	name string
	said *string
	into **string
}

func (c urlChange) apply() error {
	if c.said == nil || *c.said == "" {
		return nil
	}
	u, err := url.Parse(*c.said)
	switch {
	case err != nil || u.User != nil || len(*c.said) > 2048:
		//lint:ignore ST1005 a part of GoTrue's reply
		return errors.New("Invalid URL format")
	case u.Scheme != "https":
		return errors.New("URL must use HTTPS")
	case u.Hostname() == "":
		return errors.New("URL must have a valid hostname")
	}
	if err := checkHost(strings.ToLower(u.Hostname())); err != nil {
		return err
	}
	*c.into = c.said
	return nil
}

// checkHost returns an error for a host that is this machine or a private address. What a name
// resolves to is checked at each connection.
func checkHost(host string) error {
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1" ||
		err == nil && ip.IsUnspecified():
		return errors.New("URL cannot point to localhost or loopback addresses")
	case err != nil:
		return nil
	}
	switch ip = ip.Unmap(); {
	case ip.IsLoopback():
		return errors.New("URL cannot resolve to loopback addresses")
	case ip.IsLinkLocalUnicast(), ip.IsLinkLocalMulticast():
		return errors.New("URL cannot resolve to link-local addresses")
	case ip.IsMulticast():
		return errors.New("URL cannot resolve to multicast addresses")
	case !network.Public(ip):
		return errors.New("URL cannot resolve to private network addresses")
	}
	return nil
}

// OpenID reports whether the provider has OpenID Connect.
func (c *Custom) OpenID() bool { return c.Kind == kindOIDC }

// discoveryDocument holds the members of a discovery document that are used (OpenID Connect
// Discovery, section 3).
type discoveryDocument struct {
	Issuer   string `json:"issuer"`
	AuthURL  string `json:"authorization_endpoint"`
	TokenURL string `json:"token_endpoint"`
	JWKSURI  string `json:"jwks_uri"`
	UserInfo string `json:"userinfo_endpoint,omitempty"`
}

func (c *Custom) discoveryAddress() string {
	if c.DiscoveryURL != nil {
		return *c.DiscoveryURL
	}
	return strings.TrimSuffix(*c.Issuer, "/") + "/.well-known/openid-configuration"
}

// Discover reads the discovery document of a provider with OpenID Connect. Administrators see the
// error.
func (r *Registry) Discover(ctx context.Context, c *Custom) error {
	place := c.discoveryAddress()
	fail := func(err error) error { return fmt.Errorf("OIDC discovery from %q failed: %w", place, err) }
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return fail(err)
	}
	response, err := r.safe.Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fail(fmt.Errorf("it answered %d", response.StatusCode))
	}
	var doc discoveryDocument
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&doc); err != nil {
		return fail(err)
	}
	if doc.Issuer != *c.Issuer {
		return fail(fmt.Errorf("its issuer is %q", doc.Issuer))
	}
	for _, u := range []string{doc.AuthURL, doc.TokenURL, doc.JWKSURI} {
		if !strings.HasPrefix(u, "https://") {
			return fail(errors.New("authorization_endpoint, token_endpoint and jwks_uri must be HTTPS URLs"))
		}
	}
	c.Discovery, err = json.Marshal(doc)
	return err
}

// Custom returns the provider for one sign-in. scopes replace the provider's own.
func (r *Registry) Custom(ctx context.Context, c Custom, redirectURI, scopes string) (*Provider, error) {
	p := &Provider{Name: c.Identifier, custom: &c, r: r, client: r.safe}
	p.Config = Config{
		ClientIDs: append([]string{c.ClientID}, c.ClientIDs...), Secret: c.Secret, RedirectURI: redirectURI,
		SkipNonceCheck: c.SkipNonceCheck, EmailOptional: c.EmailOptional,
	}
	p.entry = entry{scopes: c.Scopes, proofKey: c.ProofKey, params: map[string]string{}, openID: c.OpenID()}
	for name, value := range c.Params {
		p.entry.params[name], _ = value.(string)
	}
	if asked := strings.Fields(scopes); len(asked) > 0 {
		p.entry.scopes = asked
		if c.OpenID() && !slices.Contains(asked, "openid") {
			p.entry.scopes = append([]string{"openid"}, asked...)
		}
	}
	p.oauth = oauth2.Config{ClientID: c.ClientID, ClientSecret: c.Secret, RedirectURL: redirectURI,
		Scopes: p.entry.scopes}
	if !c.OpenID() {
		p.oauth.Endpoint = oauth2.Endpoint{AuthURL: *c.AuthURL, TokenURL: *c.TokenURL}
		p.entry.read = func(a account) (Person, error) {
			var doc map[string]any
			if err := a.getURL(*c.UserinfoURL, &doc); err != nil {
				return Person{}, err
			}
			return c.person("", doc), nil
		}
		return p, nil
	}
	p.entry.issuer = place{host: *c.Issuer}
	var err error
	if p.oidc, err = r.cached(*c.Issuer+" "+c.discoveryAddress(),
		func() (*oidc.Provider, error) { return r.discoverCustom(ctx, c) }); err != nil {
		return nil, err
	}
	p.oauth.Endpoint = p.oidc.Endpoint()
	return p, nil
}

// discoverCustom reads the document again, because its URLs may have changed since the provider was
// added.
func (r *Registry) discoverCustom(ctx context.Context, c Custom) (*oidc.Provider, error) {
	if err := r.Discover(ctx, &c); err != nil {
		return nil, err
	}
	var doc discoveryDocument
	if err := json.Unmarshal(c.Discovery, &doc); err != nil {
		return nil, err
	}
	known := &oidc.ProviderConfig{
		IssuerURL: doc.Issuer, AuthURL: doc.AuthURL, TokenURL: doc.TokenURL, UserInfoURL: doc.UserInfo,
		JWKSURL: doc.JWKSURI, Algorithms: []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384,
			oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA},
	}
	return known.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), r.safe)), nil
}

// person maps the claims to a user by the administrator's mapping.
func (c *Custom) person(issuer string, claims map[string]any) Person {
	mapped := maps.Clone(claims)
	for target, source := range c.Attributes {
		if name, ok := source.(string); !ok {
			mapped[target] = source
		} else if value, ok := claims[name]; ok {
			mapped[target] = value
		}
	}
	p := standardClaims.person(issuer, mapped)
	wanted := map[string]any{}
	for _, name := range c.Claims {
		if value, ok := claims[name]; ok {
			wanted[name] = value
		}
	}
	if len(wanted) > 0 {
		p.Data["custom_claims"] = wanted
	}
	return p
}

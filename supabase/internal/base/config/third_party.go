package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// AuthThirdParty configures the issuer whose tokens are accepted besides auth's.
type AuthThirdParty struct {
	Firebase ThirdPartyFirebase `toml:"firebase"`
	Auth0    ThirdPartyAuth0    `toml:"auth0"`
	Cognito  ThirdPartyCognito  `toml:"aws_cognito"`
	Clerk    ThirdPartyClerk    `toml:"clerk"`
	WorkOS   ThirdPartyWorkOS   `toml:"workos"`
}

// ThirdPartyFirebase is a project of Firebase Authentication.
type ThirdPartyFirebase struct {
	Enabled   bool   `toml:"enabled" doc:"Accept tokens of Firebase Authentication."`
	ProjectID string `toml:"project_id" doc:"ID of the Firebase project."`
}

// ThirdPartyAuth0 is a tenant of Auth0.
type ThirdPartyAuth0 struct {
	Enabled      bool   `toml:"enabled" doc:"Accept tokens of Auth0."`
	Tenant       string `toml:"tenant" doc:"Name of the tenant."`
	TenantRegion string `toml:"tenant_region" doc:"Region in the tenant's domain, such as eu."`
}

// ThirdPartyCognito is a user pool of AWS Cognito.
type ThirdPartyCognito struct {
	Enabled        bool   `toml:"enabled" doc:"Accept tokens of AWS Cognito."`
	UserPoolID     string `toml:"user_pool_id" doc:"ID of the user pool."`
	UserPoolRegion string `toml:"user_pool_region" doc:"Region of the user pool."`
}

// ThirdPartyClerk is an instance of Clerk.
type ThirdPartyClerk struct {
	Enabled bool   `toml:"enabled" doc:"Accept tokens of Clerk."`
	Domain  string `toml:"domain" doc:"Domain of the instance: clerk.example.com or example.clerk.accounts.dev."`
}

// ThirdPartyWorkOS is an environment of WorkOS.
type ThirdPartyWorkOS struct {
	Enabled   bool   `toml:"enabled" doc:"Accept tokens of WorkOS."`
	IssuerURL string `toml:"issuer_url" doc:"The iss claim: https://api.workos.com/user_management/CLIENT_ID. Another issuer with OpenID Connect discovery works as well."`
}

// thirdParty is one of the issuers of [auth.third_party].
type thirdParty struct {
	name     string
	enabled  bool
	issuer   string
	audience string
	missing  string // a key that is needed and empty
}

func (t AuthThirdParty) list() []thirdParty {
	auth0 := t.Auth0.Tenant
	if t.Auth0.TenantRegion != "" {
		auth0 += "." + t.Auth0.TenantRegion
	}
	need := func(values ...string) string { // pairs of key and value
		for i := 0; i < len(values); i += 2 {
			if values[i+1] == "" {
				return values[i]
			}
		}
		return ""
	}
	return []thirdParty{
		{name: "firebase", enabled: t.Firebase.Enabled, issuer: "https://securetoken.google.com/" +
			t.Firebase.ProjectID, audience: t.Firebase.ProjectID,
			missing: need("project_id", t.Firebase.ProjectID)},
		{name: "auth0", enabled: t.Auth0.Enabled, issuer: "https://" + auth0 + ".auth0.com",
			missing: need("tenant", t.Auth0.Tenant)},
		{name: "aws_cognito", enabled: t.Cognito.Enabled, issuer: "https://cognito-idp." + t.Cognito.UserPoolRegion +
			".amazonaws.com/" + t.Cognito.UserPoolID,
			missing: need("user_pool_id", t.Cognito.UserPoolID, "user_pool_region", t.Cognito.UserPoolRegion)},
		{name: "clerk", enabled: t.Clerk.Enabled, issuer: "https://" + t.Clerk.Domain,
			missing: need("domain", t.Clerk.Domain)},
		{name: "workos", enabled: t.WorkOS.Enabled, issuer: strings.TrimSuffix(t.WorkOS.IssuerURL, "/"),
			missing: need("issuer_url", t.WorkOS.IssuerURL)},
	}
}

// Issuer returns the URL of the enabled issuer and the audience that its tokens must have. Both are
// "" if none is enabled; the audience is "" if any is accepted.
func (t AuthThirdParty) Issuer() (url, audience string) {
	for _, p := range t.list() {
		if p.enabled {
			return p.issuer, p.audience
		}
	}
	return "", ""
}

// clerkDomain matches the domains under which Clerk issues tokens.
var clerkDomain = regexp.MustCompile(`^(clerk(\.[a-z0-9-]+){2,}|([a-z0-9-]+\.)+clerk\.accounts\.dev)$`)

// thirdPartyRules are the checks of [auth.third_party].
func (c *Config) thirdPartyRules() (rules []rule) {
	t, enabled := c.Auth.ThirdParty, 0
	for _, p := range t.list() {
		if !p.enabled {
			continue
		}
		enabled++
		name := "auth.third_party." + p.name
		u, err := url.Parse(p.issuer)
		rules = append(rules,
			rule{p.missing != "", name + "." + p.missing, "is required when the issuer is enabled"},
			rule{p.missing == "" && (err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
				u.User != nil ||
				u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname()))), name,
				fmt.Sprintf("the issuer %q is not a URL that starts with https://", p.issuer)})
	}
	return append(rules,
		rule{t.Clerk.Enabled && t.Clerk.Domain != "" && !clerkDomain.MatchString(t.Clerk.Domain),
			"auth.third_party.clerk.domain",
			fmt.Sprintf("%q is not a domain such as clerk.example.com or example.clerk.accounts.dev; Clerk's dashboard shows it under Supabase", t.Clerk.Domain)},
		rule{enabled > 1, "auth.third_party", "only one issuer can be enabled"})
}

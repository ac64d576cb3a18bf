package idp

import (
	"maps"
	"slices"
	"strings"
)

// place is an address at a provider. A configured URL replaces its host.
type place struct{ host, path string }

// at returns the address, below own if that is set.
func (p place) at(own string) string {
	if own == "" {
		own = p.host
	}
	return strings.TrimSuffix(own, "/") + p.path
}

// entry describes a provider: its addresses, what it is asked for, and how it describes its users.
type entry struct {
	auth, token place // without them the discovery document of the issuer names the addresses
	scopes      []string
	ownScopes   bool // the scopes of a request are ignored
	params      map[string]string
	proofKey    bool // the provider needs a code challenge
	inBody      bool // the client's secret belongs in the body of the token request
	oauth1      bool // OAuth 1.0a

	// The document about the user: the path below the API, its headers, how it is read.
	api     place
	user    string
	headers map[string]string
	profile mapping
	iss     place  // iss of the identity; the API if empty
	inToken string // the member of the token's reply that is the document

	emailOptional bool // some of its accounts have no address

	emails func(account, map[string]any) ([]Email, error) // reads the addresses from elsewhere

	// ID tokens, which native applications send. issuers are further names of the issuer.
	issuer    place
	issuers   []string
	tenants   string // issuer of tokens of any organisation's tenant, with {tenantid}
	openID    bool   // the sign-in of a browser reads the ID token, too
	skipNonce bool   // the nonce is not a hash and is not compared
	browser   bool   // native applications cannot send them
	claims    mapping

	read func(account) (Person, error) // replaces all of this for an administrator's provider
}

// openIDScopes are the scopes of a provider by its issuer alone.
var openIDScopes = []string{"openid", "email", "profile"}

// entries are the external providers of GoTrue v2.196.
var entries = map[string]entry{
	"apple": {
		// With these scopes Apple posts the reply.
		scopes: []string{"email", "name"}, ownScopes: true, params: map[string]string{"response_mode": "form_post"},
		openID: true, issuer: place{host: "https://appleid.apple.com"}, issuers: []string{"https://account.apple.com"},
		emailOptional: true,
		claims: mapping{email: "email", verified: always, prepare: apple, custom: map[string]string{
			"is_private_email": "is_private_email", "auth_time": "auth_time", "transfer_sub": "transfer_sub"}},
	},
	"azure": {
		auth:   place{"https://login.microsoftonline.com/common", "/oauth2/v2.0/authorize"},
		token:  place{"https://login.microsoftonline.com/common", "/oauth2/v2.0/token"},
		scopes: []string{"openid"},
		openID: true, issuer: place{"https://login.microsoftonline.com/common", "/v2.0"},
		claims: mapping{email: "email", verified: "edov", prepare: azure,
			data: map[string]string{"preferred_username": "preferred_username", "full_name": "name"},
			rest: append(registeredClaims, "aio", "rh", "uti", "ver", "name", "preferred_username", "edov")},
	},
	"bitbucket": {
		auth:   place{"https://bitbucket.org", "/site/oauth2/authorize"},
		token:  place{"https://bitbucket.org", "/site/oauth2/access_token"},
		scopes: []string{"account", "email"}, ownScopes: true,
		api: place{"https://api.bitbucket.org", "/2.0"}, user: "/user", emails: bitbucketEmails,
		profile: mapping{id: "uuid", data: withPicture("display_name", "links.avatar.href")},
	},
	"discord": {
		auth:   place{"https://discord.com", "/api/oauth2/authorize"},
		token:  place{"https://discord.com", "/api/oauth2/token"},
		scopes: []string{"email", "identify"}, api: place{"https://discord.com", "/api"}, user: "/users/@me",
		profile: mapping{id: "id", email: "email", verified: "verified", prepare: discord,
			data: map[string]string{"name": "tag", "full_name": "username", "picture": "picture",
				"avatar_url": "picture"}, custom: map[string]string{"global_name": "global_name"}},
	},
	"facebook": {
		auth:   place{"https://www.facebook.com", "/dialog/oauth"},
		token:  place{"https://graph.facebook.com", "/oauth/access_token"},
		scopes: []string{"email"}, api: place{host: "https://graph.facebook.com"}, user: facebookFields,
		iss: place{"https://graph.facebook.com", facebookFields},
		profile: mapping{id: "id", email: "email", verified: always, data: map[string]string{
			"name": "first_name last_name", "full_name": "first_name last_name", "nickname": "name", "slug": "name",
			"picture": "picture.data.url", "avatar_url": "picture.data.url"}},
		issuer: place{host: "https://www.facebook.com"}, skipNonce: true,
		claims: mapping{email: "email", verified: always, data: map[string]string{"name": "name", "picture": "picture"}},
	},
	"figma": {
		auth: place{"https://www.figma.com", "/oauth"}, token: place{"https://api.figma.com", "/v1/oauth/token"},
		scopes: []string{"current_user:read"}, api: place{host: "https://api.figma.com"}, user: "/v1/me",
		profile: mapping{id: "id", email: "email", verified: always,
			data: map[string]string{"name": "handle", "full_name": "handle", "avatar_url": "img_url"}},
	},
	"fly": {
		auth: place{"https://api.fly.io", "/oauth/authorize"}, token: place{"https://api.fly.io", "/oauth/token"},
		scopes: []string{"read"}, api: place{host: "https://api.fly.io"}, user: "/oauth/token/info",
		profile: mapping{id: "user_id", email: "email", verified: always,
			data: map[string]string{"full_name": "user_name"}, custom: same("resource_owner_id", "organizations",
				"application", "scope", "created_at")},
	},
	"github": {
		auth:   place{"https://github.com", "/login/oauth/authorize"},
		token:  place{"https://github.com", "/login/oauth/access_token"},
		scopes: []string{"user:email"}, api: place{host: "https://api.github.com"}, user: "/user", emails: githubEmails,
		profile: mapping{id: "id", data: map[string]string{"name": "name", "full_name": "name",
			"preferred_username": "login", "user_name": "login", "avatar_url": "avatar_url"}},
	},
	"gitlab": {
		auth: place{"https://gitlab.com", "/oauth/authorize"}, token: place{"https://gitlab.com", "/oauth/token"},
		scopes: []string{"read_user"}, api: place{host: "https://gitlab.com"}, user: "/api/v4/user", emails: gitlabEmails,
		profile: mapping{id: "id", data: withPicture("name", "avatar_url")},
	},
	"google": {
		scopes: []string{"email", "profile"}, openID: true, issuer: place{host: "https://accounts.google.com"},
		claims: mapping{email: "email", verified: "email_verified", data: withPicture("name", "picture"),
			custom: same("hd")},
	},
	"kakao": {
		auth:  place{"https://kauth.kakao.com", "/oauth/authorize"},
		token: place{"https://kauth.kakao.com", "/oauth/token"}, inBody: true,
		scopes: []string{"account_email", "profile_image", "profile_nickname"},
		api:    place{host: "https://kapi.kakao.com"}, user: "/v2/user/me",
		profile: mapping{id: "id", email: "kakao_account.email",
			verified: "kakao_account.is_email_verified kakao_account.is_email_valid", data: map[string]string{
				"name": kakaoName, "full_name": kakaoName, "preferred_username": kakaoName, "user_name": kakaoName,
				"avatar_url": "kakao_account.profile.profile_image_url"}},
		issuer: place{host: "https://kauth.kakao.com"},
		claims: mapping{email: "email", verified: always, data: map[string]string{"name": "nickname",
			"preferred_username": "nickname", "picture": "picture"}},
	},
	"keycloak": {
		// Keycloak shows the document about the user only to tokens with the scope openid.
		auth: place{"", "/protocol/openid-connect/auth"}, token: place{"", "/protocol/openid-connect/token"},
		scopes: []string{"openid", "profile", "email"}, api: place{}, user: "/protocol/openid-connect/userinfo",
		profile: mapping{id: "sub", email: "email", verified: "email_verified",
			data: map[string]string{"name": "name", "full_name": "name"},
			rest: []string{"name", "sub", "email", "email_verified"}},
		issuer: place{}, claims: standardClaims,
	},
	"linkedin": {
		auth:   place{"https://api.linkedin.com", "/oauth/v2/authorization"},
		token:  place{"https://api.linkedin.com", "/oauth/v2/accessToken"},
		scopes: []string{"r_emailaddress", "r_liteprofile"}, api: place{host: "https://api.linkedin.com"},
		user:   "/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))",
		emails: linkedInEmails,
		profile: mapping{id: "id", prepare: linkedIn, data: map[string]string{"name": "first last",
			"full_name": "first last", "picture": linkedInPicture, "avatar_url": linkedInPicture}},
	},
	"linkedin_oidc": {
		auth:   place{"https://api.linkedin.com", "/oauth/v2/authorization"},
		token:  place{"https://api.linkedin.com", "/oauth/v2/accessToken"},
		scopes: openIDScopes, openID: true, browser: true, issuer: place{host: "https://www.linkedin.com/oauth"},
		claims: mapping{email: "email", verified: "email_verified", data: map[string]string{
			"name": "given_name family_name", "given_name": "given_name", "family_name": "family_name",
			"locale": "locale", "picture": "picture"}},
	},
	"notion": {
		auth:  place{"https://api.notion.com", "/v1/oauth/authorize"},
		token: place{"https://api.notion.com", "/v1/oauth/token"}, ownScopes: true,
		api: place{host: "https://api.notion.com"}, user: "/v1/users/me",
		headers: map[string]string{"Notion-Version": "2021-08-16"},
		profile: mapping{id: "bot.owner.user.id", email: "bot.owner.user.person.email", verified: always,
			data: withPicture("bot.owner.user.name", "bot.owner.user.avatar_url")},
	},
	"slack": {
		auth: place{"https://slack.com", "/oauth/authorize"}, token: place{"https://slack.com", "/api/oauth.access"},
		scopes: []string{"profile", "email", "openid"},
		api:    place{"https://slack.com", "/api"}, user: "/openid.connect.userInfo",
		profile: slack(always),
	},
	"slack_oidc": {
		auth:   place{"https://slack.com", "/openid/connect/authorize"},
		token:  place{"https://slack.com", "/api/openid.connect.token"},
		scopes: []string{"profile", "email", "openid"},
		api:    place{"https://slack.com", "/api"}, user: "/openid.connect.userInfo",
		profile: slack("email_verified"),
	},
	"snapchat": {
		auth:  place{"https://accounts.snapchat.com", "/accounts/oauth2/auth"},
		token: place{"https://accounts.snapchat.com", "/accounts/oauth2/token"},
		scopes: []string{"https://auth.snapchat.com/oauth2/api/user.external_id",
			"https://auth.snapchat.com/oauth2/api/user.display_name",
			"https://auth.snapchat.com/oauth2/api/user.bitmoji.avatar"},
		api: place{host: "https://kit.snapchat.com"}, user: "/v1/me?query=" + snapchatQuery,
		iss: place{"https://accounts.snapchat.com", "/accounts/oauth2/token"},
		profile: mapping{id: "data.me.externalId", email: "data.me.email", verified: always, data: map[string]string{
			"name": "data.me.displayName", "full_name": "data.me.displayName", "slug": "data.me.displayName",
			"picture": "data.me.bitmoji.avatar", "avatar_url": "data.me.bitmoji.avatar"}},
		issuer: place{"https://accounts.snapchat.com", "/accounts/oauth2/token"},
		claims: mapping{email: "email", verified: always, data: standardClaims.data},
	},
	"spotify": {
		auth:   place{"https://accounts.spotify.com", "/authorize"},
		token:  place{"https://accounts.spotify.com", "/api/token"},
		scopes: []string{"user-read-email"}, api: place{host: "https://api.spotify.com/v1"}, user: "/me",
		profile: mapping{id: "id", email: "email", prepare: spotify, data: withPicture("display_name", "largest")},
	},
	"twitch": {
		auth: place{"https://id.twitch.tv", "/oauth2/authorize"}, token: place{"https://id.twitch.tv", "/oauth2/token"},
		scopes: []string{"user:read:email"}, api: place{host: "https://api.twitch.tv"}, user: "/helix/users",
		headers: map[string]string{"Client-Id": clientID},
		profile: mapping{id: "data.0.id", email: "data.0.email", verified: always, data: map[string]string{
			"name": "data.0.login", "full_name": "data.0.login", "nickname": "data.0.display_name",
			"slug": "data.0.display_name", "picture": "data.0.profile_image_url",
			"avatar_url": "data.0.profile_image_url"}, custom: map[string]string{
			"broadcaster_type": "data.0.broadcaster_type", "description": "data.0.description", "type": "data.0.type",
			"offline_image_url": "data.0.offline_image_url", "view_count": "data.0.view_count"}},
	},
	"twitter": {
		auth:  place{"https://api.twitter.com", "/oauth/authenticate"},
		token: place{"https://api.twitter.com", "/oauth/access_token"}, ownScopes: true, oauth1: true,
		api:  place{host: "https://api.twitter.com"},
		user: twitterUser + "?include_email=true&include_entities=false&skip_status=true",
		iss:  place{"https://api.twitter.com", twitterUser},
		profile: mapping{id: "id_str", email: "email", verified: always, data: map[string]string{"name": "name",
			"full_name": "name", "preferred_username": "screen_name", "user_name": "screen_name",
			"picture": "profile_image_url_https", "avatar_url": "profile_image_url_https"}},
	},
	"vercel_marketplace": {
		auth:   place{"https://api.vercel.com", "/oauth/v2/authorization"},
		token:  place{"https://api.vercel.com", "/oauth/v2/accessToken"},
		openID: true, issuer: place{host: "https://marketplace.vercel.com"}, emailOptional: true,
		claims: mapping{id: "subject", email: "user_email", verified: always, prepare: vercel,
			data: map[string]string{"name": "user_name", "picture": "user_avatar_url"}},
	},
	"workos": {
		auth: place{"https://api.workos.com", "/sso/authorize"}, token: place{"https://api.workos.com", "/sso/token"},
		ownScopes: true, api: place{host: "https://api.workos.com"}, inToken: "profile",
		profile: mapping{id: "id", email: "email", verified: always, data: map[string]string{
			"name": "first_name last_name", "full_name": "first_name last_name"},
			custom: same("connection_id", "organization_id")},
	},
	"x": {
		auth: place{"https://x.com", "/i/oauth2/authorize"}, token: place{"https://api.x.com", "/2/oauth2/token"},
		scopes: []string{"users.email", "tweet.read", "users.read", "offline.access"}, proofKey: true,
		api:  place{host: "https://api.x.com"},
		user: "/2/users/me?user.fields=id,name,username,confirmed_email,profile_image_url,url,created_at",
		profile: mapping{id: "data.id", email: "data.confirmed_email", verified: always, prepare: x,
			data: map[string]string{"name": "data.name", "full_name": "data.name", "profile": "page",
				"preferred_username": "data.username", "user_name": "data.username", "website": "data.url",
				"picture": "data.profile_image_url", "avatar_url": "data.profile_image_url"},
			custom: map[string]string{"created_at": "data.created_at"}},
	},
	"zoom": {
		auth: place{"https://zoom.us", "/oauth/authorize"}, token: place{"https://zoom.us", "/oauth/token"},
		ownScopes: true, api: place{"https://api.zoom.us", "/v2"}, user: "/users/me",
		profile: mapping{id: "id", email: "email", verified: "proven", prepare: zoom,
			data: withPicture("first_name last_name", "pic_url")},
	},
}

// Names returns the names of the known providers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(entries)) }

// Known reports whether a name has an entry.
func Known(name string) bool { _, ok := entries[name]; return ok }

// IDTokenIssuer returns the issuer of the ID tokens that native applications send of a provider. ok
// is false if there are none.
func IDTokenIssuer(name string) (issuer string, ok bool) {
	e := entries[name]
	if e.browser || e.issuer.host == "" && name != "keycloak" {
		return "", false
	}
	return e.issuer.at(""), true
}

// entryOf returns the entry of a name. An unknown name with a URL is an OpenID Connect issuer.
func entryOf(name string, c Config) entry {
	e, ok := entries[name]
	if !ok {
		return entry{openID: true, scopes: openIDScopes, proofKey: true, claims: standardClaims}
	}
	switch {
	case name == "azure":
		e.tenants = azureTenants(e.issuer.at(c.URL))
	case name == "github" && c.URL != "":
		e.api.path = "/api/v3"
	case name == "apple" && c.URL == "":
		e.issuers = append([]string{e.issuer.host}, e.issuers...)
	case name == "apple":
		e.issuers = nil
	}
	return e
}

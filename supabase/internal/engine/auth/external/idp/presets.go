package idp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// preset holds a provider's addresses and how it describes its users.
type preset struct {
	issuer            string   // of a provider with OpenID Connect; discovery finds the rest
	issuers           []string // all its names, if it has several; tokens and the discovery document have one of them
	tenants           string   // issuer of tokens of any organisation's tenant, with {tenantid}
	authURL, tokenURL string
	scopes            []string
	params            map[string]string // of the authorization URL
	proofKey          bool
	clientIDHeader    string
	read              func(context.Context, ask) (Person, error)

	// idTokens is the issuer of the ID tokens that native applications get from a provider without
	// OpenID Connect. Their nonce is not a hash and is not compared.
	idTokens string
}

// ask gets a JSON document from the provider's API.
type ask func(ctx context.Context, url string, into any) error

// presetFor returns the preset of a name. An unknown name with a URL is an OpenID Connect issuer.
func presetFor(name string, c Config) preset {
	own := func(usual string) string {
		if c.URL == "" {
			return usual
		}
		return strings.TrimSuffix(c.URL, "/")
	}
	openID := []string{"openid", "email", "profile"}
	switch name {
	case "google":
		return preset{issuer: own("https://accounts.google.com"), scopes: openID}
	case "apple":
		// With these scopes, Apple posts the reply.
		p := preset{issuer: own("https://appleid.apple.com"), scopes: []string{"email", "name"},
			params: map[string]string{"response_mode": "form_post"}}
		if c.URL == "" {
			p.issuers = []string{p.issuer, "https://account.apple.com"}
		}
		return p
	case "azure":
		base := own("https://login.microsoftonline.com/common")
		p := preset{issuer: base + "/v2.0", scopes: openID}
		for path, tenant := range map[string]string{
			"/common": tenantID, "/organizations": tenantID, "/consumers": "9188040d-6c67-4c5b-b112-36a304b66dad",
		} {
			if host, ok := strings.CutSuffix(base, path); ok {
				p.tenants = host + "/" + tenant + "/v2.0"
			}
		}
		return p
	case "linkedin_oidc":
		return preset{issuer: own("https://www.linkedin.com/oauth"), scopes: openID}
	case "slack_oidc":
		return preset{issuer: own("https://slack.com"), scopes: openID}
	case "kakao":
		return preset{issuer: own("https://kauth.kakao.com"),
			scopes: []string{"openid", "account_email", "profile_image", "profile_nickname"}}
	case "github":
		host := own("https://github.com")
		api := "https://api.github.com"
		if c.URL != "" {
			api = host + "/api/v3"
		}
		return preset{authURL: host + "/login/oauth/authorize", tokenURL: host + "/login/oauth/access_token",
			scopes: []string{"user:email"}, read: github(api)}
	case "facebook":
		site, graph := own("https://www.facebook.com"), own("https://graph.facebook.com")
		return preset{authURL: site + "/dialog/oauth", tokenURL: graph + "/oauth/access_token",
			scopes: []string{"email"}, idTokens: site,
			read: profile(graph, "/me?fields=email,first_name,last_name,name,picture", facebook)}
	case "gitlab":
		host := own("https://gitlab.com")
		return preset{authURL: host + "/oauth/authorize", tokenURL: host + "/oauth/token",
			scopes: []string{"read_user"}, read: profile(host, "/api/v4/user",
				fields{id: "id", name: "name", user: "username", email: "email", verified: "confirmed_at",
					picture: "avatar_url"}.person)}
	case "discord":
		host := own("https://discord.com")
		return preset{authURL: host + "/api/oauth2/authorize", tokenURL: host + "/api/oauth2/token",
			scopes: []string{"email", "identify"}, read: profile(host, "/api/users/@me",
				fields{id: "id", name: "global_name", user: "username", email: "email", verified: "verified"}.person)}
	case "spotify":
		accounts, api := own("https://accounts.spotify.com"), own("https://api.spotify.com")
		return preset{authURL: accounts + "/authorize", tokenURL: accounts + "/api/token",
			scopes: []string{"user-read-email"},
			read:   profile(api, "/v1/me", fields{id: "id", name: "display_name", email: "email"}.person)}
	case "twitch":
		id, api := own("https://id.twitch.tv"), own("https://api.twitch.tv")
		return preset{authURL: id + "/oauth2/authorize", tokenURL: id + "/oauth2/token",
			scopes: []string{"user:read:email"}, clientIDHeader: "Client-Id",
			read: profile(api, "/helix/users", twitch)}
	}
	return preset{issuer: own(""), scopes: openID, proofKey: true}
}

// tenantID is a placeholder for the token's tenant in the issuer of Microsoft's common discovery
// documents.
const tenantID = "{tenantid}"

// manyIssuers reports whether issuedBy checks the issuer of a token instead of the discovery
// document.
func (p preset) manyIssuers() bool { return p.tenants != "" || len(p.issuers) > 0 }

// issuedBy reports whether the issuer of a token is one of the provider's names or the name of the
// token's tenant.
func (p preset) issuedBy(issuer string, claims map[string]any) bool {
	if p.tenants == "" {
		return slices.Contains(p.issuers, issuer)
	}
	tenant, err := uuid.Parse(asText(claims["tid"]))
	return err == nil && issuer == strings.Replace(p.tenants, tenantID, tenant.String(), 1)
}

// personOf reads the standard claims of OpenID Connect (Core, section 5.1).
func personOf(name, issuer string, claims map[string]any) Person {
	text := func(member string) string { return asText(claims[member]) }
	p := Person{Subject: text("sub"), Data: map[string]any{}}
	for _, member := range []string{
		"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
		"website", "gender", "birthdate", "zoneinfo", "locale",
	} {
		p.set(member, text(member))
	}
	p.set("iss", issuer)
	p.set("sub", p.Subject)
	p.set("provider_id", p.Subject)
	p.set("full_name", text("name"))
	p.set("avatar_url", text("picture"))
	custom := map[string]any{}
	for _, member := range []string{"hd", "is_private_email", "auth_time", "transfer_sub", "tid"} {
		if value, ok := claims[member]; ok && (name == "google" || name == "apple" || name == "azure") {
			custom[member] = value
		}
	}
	if len(custom) > 0 {
		p.Data["custom_claims"] = custom
	}
	if address := text("email"); address != "" {
		verified := asBool(claims["email_verified"])
		switch name {
		case "apple", "kakao", "facebook": // they return verified addresses only
			verified = true
		case "azure": // only this claim tells who verified the address
			if edov, ok := claims["xms_edov"]; ok {
				verified = asBool(edov)
			} else {
				verified = true
			}
		}
		p.Emails = []Email{{Address: address, Verified: verified, Primary: true}}
	}
	return p
}

// longestName bounds a name that the user's browser sends.
const longestName = 255

// Introduce takes the user's name from what Apple posts beside the code, at the first sign-in only,
// because its tokens contain no name. The user's browser sends it unsigned, so nothing else in it
// is used.
func (p *Person) Introduce(posted string) {
	var user struct {
		Name struct{ FirstName, LastName string }
	}
	if _, named := p.Data["name"]; named || json.Unmarshal([]byte(posted), &user) != nil {
		return
	}
	name := strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(user.Name.FirstName+" "+
		user.Name.LastName, "\x00", ""), "")), " ")
	if utf8.RuneCountInString(name) > longestName {
		return
	}
	p.set("name", name)
	p.set("full_name", name)
}

func (p *Person) set(member, value string) {
	if value != "" {
		p.Data[member] = value
	}
}

// asText returns a string, or a number as a string; "" for another value.
func asText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return ""
}

// asBool reports whether a member is true in one of the forms that providers use.
func asBool(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v != "" && v != "0" && v != "false"
	case float64:
		return v != 0
	}
	return false
}

// profile returns a reader of one document of an API.
func profile(host, path string, read func(issuer string, doc map[string]any) Person) func(context.Context, ask) (Person,
	error) {
	return func(ctx context.Context, get ask) (Person, error) {
		var doc map[string]any
		if err := get(ctx, host+path, &doc); err != nil {
			return Person{}, err
		}
		return read(host, doc), nil
	}
}

// fields names the members of a profile.
type fields struct{ id, name, user, email, verified, picture string }

func (f fields) person(issuer string, doc map[string]any) Person {
	text := func(member string) string { return asText(doc[member]) }
	p := Person{Subject: text(f.id), Data: map[string]any{}}
	p.set("iss", issuer)
	p.set("sub", p.Subject)
	p.set("provider_id", p.Subject)
	p.set("name", text(f.name))
	p.set("full_name", text(f.name))
	p.set("preferred_username", text(f.user))
	p.set("user_name", text(f.user))
	p.set("picture", text(f.picture))
	p.set("avatar_url", text(f.picture))
	if address := text(f.email); address != "" {
		p.Emails = []Email{{Address: address, Verified: asBool(doc[f.verified]), Primary: true}}
	}
	return p
}

// facebook returns confirmed addresses only.
func facebook(issuer string, doc map[string]any) Person {
	if picture, ok := doc["picture"].(map[string]any); ok {
		if data, ok := picture["data"].(map[string]any); ok {
			doc["picture_url"] = data["url"]
		}
	}
	doc["verified"] = true
	return fields{id: "id", name: "name", email: "email", verified: "verified", picture: "picture_url"}.person(issuer,
		doc)
}

// twitch reads a list with one user.
func twitch(issuer string, doc map[string]any) Person {
	list, _ := doc["data"].([]any)
	if len(list) == 0 {
		return Person{Data: map[string]any{}}
	}
	person, _ := list[0].(map[string]any)
	if person == nil {
		return Person{Data: map[string]any{}}
	}
	person["verified"] = true // the API shows verified addresses only
	return fields{id: "id", name: "display_name", user: "login", email: "email", verified: "verified",
		picture: "profile_image_url"}.person(issuer, person)
}

// github reads the addresses by a second request.
func github(api string) func(context.Context, ask) (Person, error) {
	return func(ctx context.Context, get ask) (Person, error) {
		p, err := profile(api, "/user",
			fields{id: "id", name: "name", user: "login", picture: "avatar_url"}.person)(ctx, get)
		if err != nil {
			return p, err
		}
		delete(p.Data, "picture")
		var emails []struct {
			Email    string `json:"email"`
			Verified bool   `json:"verified"`
			Primary  bool   `json:"primary"`
		}
		if err := get(ctx, api+"/user/emails", &emails); err != nil {
			return p, err
		}
		for _, e := range emails {
			if e.Email != "" {
				p.Emails = append(p.Emails, Email{Address: e.Email, Verified: e.Verified, Primary: e.Primary})
			}
		}
		return p, nil
	}
}

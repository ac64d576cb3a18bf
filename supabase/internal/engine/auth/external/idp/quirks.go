package idp

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Paths of members and of documents.
const (
	facebookFields  = "/me?fields=email,first_name,last_name,name,picture"
	kakaoName       = "kakao_account.profile.nickname"
	linkedInPicture = "profilePicture.displayImage~.elements.0.identifiers.0.identifier"
	twitterUser     = "/1.1/account/verify_credentials.json"
)

// snapchatQuery is the GraphQL query for a user.
var snapchatQuery = url.QueryEscape("{me { externalId displayName bitmoji { avatar id } email } }")

// clientID is a placeholder for the application's id in a header.
const clientID = "{client_id}"

// apple makes is_private_email a boolean; Apple sends a text, too.
func apple(claims map[string]any) {
	if v, ok := claims["is_private_email"]; ok {
		claims["is_private_email"] = asBool(v)
	}
}

// azure sets edov, whether the address is verified. Without the claim xms_edov the address counts
// as verified; Provider.person knows the tenants for which that is not so.
func azure(claims map[string]any) {
	edov, told := claims["xms_edov"]
	text, _ := edov.(string)
	claims["edov"] = !told || edov == true || text == "1" || text == "true"
}

// tenantID is a placeholder for the token's tenant in the issuer of Microsoft's common discovery
// documents.
const tenantID = "{tenantid}"

// azureTenants returns the issuer of the tokens if they come from any tenant, else "".
func azureTenants(issuer string) string {
	for path, tenant := range map[string]string{
		"/common": tenantID, "/organizations": tenantID, "/consumers": "9188040d-6c67-4c5b-b112-36a304b66dad",
	} {
		if host, ok := strings.CutSuffix(issuer, path+"/v2.0"); ok {
			return host + "/" + tenant + "/v2.0"
		}
	}
	return ""
}

// azureHost begins the issuers of Azure.
const azureHost = "https://login.microsoftonline.com/"

// ofAzure reports whether the issuer is a tenant of Azure.
func ofAzure(issuer string) bool {
	tenant, ok := strings.CutPrefix(strings.TrimSuffix(issuer, "/"), azureHost)
	tenant, version, _ := strings.Cut(tenant, "/")
	return ok && tenant != "" && version == "v2.0"
}

// manyIssuers reports whether issuedBy checks the issuer of a token instead of the discovery
// document.
func (e entry) manyIssuers() bool { return e.tenants != "" || len(e.issuers) > 0 }

// issuedBy reports whether the issuer of a token is one of the provider's names or the name of the
// token's tenant.
func (e entry) issuedBy(issuer string, claims map[string]any) bool {
	if e.tenants == "" {
		return slices.Contains(e.issuers, issuer)
	}
	tenant, err := uuid.Parse(asText(claims["tid"]))
	return err == nil && issuer == strings.Replace(e.tenants, tenantID, tenant.String(), 1)
}

// discord sets the user's tag and the address of the picture, also of the default one.
func discord(user map[string]any) {
	tag := asText(user["discriminator"])
	user["tag"] = asText(user["username"]) + "#" + tag
	hash := asText(user["avatar"])
	switch number, err := strconv.Atoi(tag); {
	case hash != "" && strings.HasPrefix(hash, "a_"):
		user["picture"] = fmt.Sprintf("https://cdn.discordapp.com/avatars/%s/%s.gif", asText(user["id"]), hash)
	case hash != "":
		user["picture"] = fmt.Sprintf("https://cdn.discordapp.com/avatars/%s/%s.png", asText(user["id"]), hash)
	case err == nil:
		user["picture"] = fmt.Sprintf("https://cdn.discordapp.com/embed/avatars/%d.png", number%5)
	}
}

// linkedIn sets the user's names in the language that the user prefers.
func linkedIn(user map[string]any) {
	for to, from := range map[string]string{"first": "firstName", "last": "lastName"} {
		locale := textAt(user, from+".preferredLocale.language") + "_" + textAt(user, from+".preferredLocale.country")
		user[to] = textAt(user, from+".localized."+locale)
	}
}

// slack reads the document of Slack; verified is as in a mapping.
func slack(verified string) mapping {
	return mapping{id: "https://slack.com/user_id", email: "email", verified: verified,
		data: withPicture("name", "picture"), custom: same("https://slack.com/team_id")}
}

// spotify sets the address of the largest picture.
func spotify(user map[string]any) {
	images, _ := user["images"].([]any)
	most := -1.0
	for _, v := range images {
		image, _ := v.(map[string]any)
		width, _ := image["width"].(float64)
		height, _ := image["height"].(float64)
		if size := width * height; size > most {
			most, user["largest"] = size, image["url"]
		}
	}
}

// vercel sets the subject, which is the global id of a user if there is one.
func vercel(claims map[string]any) {
	claims["subject"] = claims["sub"]
	if id := asText(claims["global_user_id"]); id != "" {
		claims["subject"] = "global_user_id:" + id
	}
}

// x sets the address of the user's page.
func x(doc map[string]any) {
	if name := textAt(doc, "data.username"); name != "" {
		doc["page"] = "https://x.com/" + name
	}
}

// zoom sets whether the address is proven. Zoom confirms the addresses of accounts with a password
// (type 100) by mail; another provider has confirmed the others.
func zoom(user map[string]any) {
	user["proven"] = asText(user["login_type"]) != "100" || asBool(user["verified"])
}

// listed returns the addresses of a list. verified and primary name members.
func listed(list []map[string]any, verified, primary string) []Email {
	var out []Email
	for _, e := range list {
		if address := asText(e["email"]); address != "" {
			out = append(out, Email{Address: address, Verified: asBool(e[verified]), Primary: asBool(e[primary])})
		}
	}
	return out
}

func githubEmails(a account, _ map[string]any) ([]Email, error) {
	var list []map[string]any
	err := a.get("/user/emails", &list)
	return listed(list, "verified", "primary"), err
}

func bitbucketEmails(a account, _ map[string]any) ([]Email, error) {
	var page struct{ Values []map[string]any }
	err := a.get("/user/emails", &page)
	return listed(page.Values, "is_confirmed", "is_primary"), err
}

// gitlabEmails reads the further addresses, whose confirmation GitLab does not tell, and the
// primary one.
func gitlabEmails(a account, user map[string]any) ([]Email, error) {
	var list []map[string]any
	err := a.get("/api/v4/user/emails", &list)
	out := listed(list, "", "")
	if address := asText(user["email"]); address != "" {
		out = append(out, Email{Address: address, Verified: asText(user["confirmed_at"]) != "", Primary: true})
	}
	return out, err
}

// linkedInEmails reads the primary address, which LinkedIn has verified.
func linkedInEmails(a account, _ map[string]any) ([]Email, error) {
	var doc map[string]any
	err := a.get("/v2/emailAddress?q=members&projection=(elements*(handle~))", &doc)
	if address := textAt(doc, "elements.0.handle~.emailAddress"); address != "" {
		return []Email{{Address: address, Verified: true, Primary: true}}, err
	}
	return nil, err
}

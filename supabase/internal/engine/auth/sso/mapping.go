package sso

import (
	"net/http"
	"slices"
	"strings"

	"github.com/crewjam/saml"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/store"
)

// mapping says which attributes of an assertion become which claims of the user.
type mapping struct {
	Keys map[string]attribute `json:"keys,omitempty"`
}

// attribute describes a claim: the first of its names with a value gives it.
type attribute struct {
	Name    string   `json:"name,omitempty"`
	Names   []string `json:"names,omitempty"`
	Default any      `json:"default,omitempty"`
	Array   bool     `json:"array,omitempty"` // all values of the attribute
}

// valuesOf returns the values of an attribute by its name or friendly name. Empty ones are left
// out.
func valuesOf(a *saml.Assertion, name string) (out []string) {
	for _, statement := range a.AttributeStatements {
		for _, at := range statement.Attributes {
			if !strings.EqualFold(at.Name, name) && !strings.EqualFold(at.FriendlyName, name) {
				continue
			}
			for _, v := range at.Values {
				if v.Value != "" {
					out = append(out, v.Value)
				}
			}
		}
	}
	return out
}

// claims applies the mapping to an assertion.
func (m mapping) claims(a *saml.Assertion) map[string]any {
	out := map[string]any{}
	for key, wanted := range m.Keys {
		names := wanted.Names
		if wanted.Name != "" {
			names = append([]string{wanted.Name}, names...)
		}
		var values []string
		for _, name := range names {
			if values = valuesOf(a, name); len(values) > 0 {
				break
			}
		}
		switch {
		case len(values) > 0 && wanted.Array:
			out[key] = values
		case len(values) > 0:
			out[key] = values[0]
		case wanted.Default != nil:
			out[key] = wanted.Default
		}
	}
	return out
}

// subjectID is the attribute that identifies a user for ever (SAML V2.0 Subject Identifier
// Attributes Profile 1.0).
const subjectID = "urn:oasis:names:tc:SAML:attribute:subject-id"

// userID returns the provider's lasting id of the user, or "".
func userID(a *saml.Assertion) string {
	if values := valuesOf(a, subjectID); len(values) > 0 {
		return values[0]
	}
	if a.Subject == nil || a.Subject.NameID == nil {
		return ""
	}
	id := a.Subject.NameID
	switch id.Format {
	case string(saml.TransientNameIDFormat):
		return ""
	case string(saml.EmailAddressNameIDFormat):
		return strings.ToLower(strings.TrimSpace(id.Value))
	}
	return id.Value
}

// emailNames are the names that providers give the attribute with the address.
var emailNames = []string{
	"urn:oid:0.9.2342.19200300.100.1.3", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
	"http://schemas.xmlsoap.org/claims/EmailAddress", "mail", "email",
}

// emailOf returns the user's address where the mapping does not say it, or "".
func emailOf(a *saml.Assertion) string {
	for _, name := range emailNames {
		if values := valuesOf(a, name); len(values) > 0 {
			return values[0]
		}
	}
	if a.Subject != nil && a.Subject.NameID != nil &&
		a.Subject.NameID.Format == string(saml.EmailAddressNameIDFormat) {
		return a.Subject.NameID.Value
	}
	return ""
}

// plainClaims are the claims that become members of the identity's data. All others are custom
// claims.
var plainClaims = []string{
	"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
	"website", "gender", "birthdate", "zoneinfo", "locale", "updated_at", "phone", "full_name", "avatar_url", "slug",
	"provider_id", "user_name",
}

// setClaims are the claims that do not come from a mapping.
var setClaims = []string{
	"iss", "sub", "aud", "iat", "exp", "email", "email_verified", "phone_verified", "custom_claims",
}

// personOf returns the user that an assertion of a provider describes.
func personOf(a *saml.Assertion, p *provider) (Person, error) {
	refuse := func(code, text string) error { return apierror.Errorf(http.StatusBadRequest, code, "%s", text) }
	subject := userID(a)
	if subject == "" {
		return Person{}, refuse("saml_assertion_no_user_id", "SAML Assertion did not contain a persistent "+
			"Subject Identifier attribute or Subject NameID uniquely identifying this user")
	}
	claims := p.SAML.Mapping.claims(a)
	email, _ := claims["email"].(string)
	if email == "" {
		email = emailOf(a)
	}
	if email == "" {
		return Person{}, refuse("saml_assertion_no_email", "SAML Assertion does not contain an email address")
	}
	data, custom := map[string]any{}, map[string]any{}
	for key, value := range claims {
		switch {
		case slices.Contains(setClaims, key):
		case !slices.Contains(plainClaims, key):
			custom[key] = value
		default:
			text, ok := value.(string)
			if !ok {
				return Person{}, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
					"Mapped claims from provider could not be deserialized from JSON")
			}
			data[key] = text
		}
	}
	data["iss"], data["sub"], data["custom_claims"] = p.SAML.EntityID, subject, custom
	return Person{Provider: store.SSOPrefix + p.ID.String(), Subject: subject, Email: email, Data: data}, nil
}

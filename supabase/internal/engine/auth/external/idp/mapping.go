package idp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// always says that a provider shows verified addresses only.
const always = "*"

// mapping tells how a document or the claims of an ID token describe a user. A path names a member
// ("picture.data.url"); several with spaces between them are joined.
type mapping struct {
	id       string // "sub" when empty
	email    string
	verified string            // members that must all be true, or always; "" for never
	data     map[string]string // members of the identity
	custom   map[string]string // members of its custom_claims
	rest     []string          // if set, custom_claims has all members but these
	prepare  func(doc map[string]any)
}

// standardClaims reads the standard claims of OpenID Connect (Core, section 5.1).
var standardClaims = mapping{email: "email", verified: "email_verified", data: standardData()}

func standardData() map[string]string {
	data := same("name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile",
		"picture", "website", "gender", "birthdate", "zoneinfo", "locale")
	data["full_name"], data["avatar_url"] = "name", "picture"
	return data
}

// registeredClaims are the claims about the token itself.
var registeredClaims = []string{"aud", "iss", "iat", "nbf", "exp", "c_hash", "at_hash", "nonce", "jti", "sub"}

// same maps members to those with the same names.
func same(names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = name
	}
	return out
}

// withPicture maps the name and the picture of a user under the names that clients expect.
func withPicture(name, picture string) map[string]string {
	return map[string]string{"name": name, "full_name": name, "picture": picture, "avatar_url": picture}
}

// person returns the user that a document describes.
func (m mapping) person(issuer string, doc map[string]any) Person {
	if m.prepare != nil {
		prepared := map[string]any{}
		maps.Copy(prepared, doc)
		m.prepare(prepared)
		doc = prepared
	}
	id := m.id
	if id == "" {
		id = "sub"
	}
	p := Person{Subject: textAt(doc, id), Data: map[string]any{}}
	p.set("iss", issuer)
	p.set("sub", p.Subject)
	p.set("provider_id", p.Subject)
	for member, paths := range m.data {
		p.set(member, textAt(doc, paths))
	}
	custom := map[string]any{}
	for member, path := range m.custom {
		if v := at(doc, path); v != nil {
			custom[member] = v
		}
	}
	for member, v := range doc {
		if m.rest != nil && !slices.Contains(m.rest, member) {
			custom[member] = v
		}
	}
	if len(custom) > 0 {
		p.Data["custom_claims"] = custom
	}
	if address := textAt(doc, m.email); address != "" {
		p.Emails = []Email{{Address: address, Verified: m.isVerified(doc), Primary: true}}
	}
	return p
}

func (m mapping) isVerified(doc map[string]any) bool {
	if m.verified == always {
		return true
	}
	members := strings.Fields(m.verified)
	for _, member := range members {
		if !asBool(at(doc, member)) {
			return false
		}
	}
	return len(members) > 0
}

// at returns the member of a document that a path names, or nil.
func at(doc map[string]any, path string) any {
	if v, ok := doc[path]; ok {
		return v
	}
	var v any = doc
	for name := range strings.SplitSeq(path, ".") {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

// textAt returns the texts that paths name, joined by spaces.
func textAt(doc map[string]any, paths string) string {
	var out []string
	for path := range strings.FieldsSeq(paths) {
		out = append(out, asText(at(doc, path)))
	}
	return strings.TrimSpace(strings.Join(out, " "))
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

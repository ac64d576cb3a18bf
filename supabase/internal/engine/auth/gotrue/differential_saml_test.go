package gotrue

import (
	"bytes"
	"compress/flate"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"daawo/supabase/internal/base/compare"
	"daawo/supabase/internal/engine/auth/sso/ssotest"
)

// samlKey is the key of both servers and of the identity providers. It is for these tests only.
//
//go:embed testdata/saml_key.txt
var samlKey string

// samlProviders are the identity providers of the walks. They are the same in each run.
var samlProviders = sync.OnceValue(func() (out [2]*ssotest.Provider) {
	der, err := base64.StdEncoding.DecodeString(samlKey)
	var key *rsa.PrivateKey
	if err == nil {
		key, err = x509.ParsePKCS1PrivateKey(der)
	}
	for i, name := range []string{"https://one.example.net/saml", "https://two.example.net/saml"} {
		if err == nil {
			out[i], err = ssotest.New(key, name)
		}
	}
	if err != nil {
		panic(err)
	}
	return out
})

const samlBase = "http://localhost:9999/sso/saml/"

// samlValue returns the metadata of a provider, or the form with a response to the last request.
func samlValue(kept map[string]string, name string) (string, bool) {
	p := samlProviders()[0]
	request, relayState := samlRequest(kept["sso"])
	s := p.Statement(time.Now(), samlBase, request, "a1@example.org")
	switch name {
	case "metadata one":
		return inJSON(p.Metadata()), true
	case "metadata two":
		return inJSON(samlProviders()[1].Metadata()), true
	case "response":
	case "response unrequested":
		s.InResponseTo, relayState = "", ""
	case "response of another":
		s.Issuer = samlProviders()[1].EntityID
	case "response with another audience":
		s.Audience = "https://other.example/"
	case "response too late":
		s.IssuedAt = s.IssuedAt.Add(-time.Hour)
	case "response without address":
		s.Attributes = ssotest.Attribute("Role", "Role", "auditor")
	case "response with a transient name":
		s.Format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
	case "response with an address as name":
		s.Format, s.NameID, s.Attributes = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress", "A2@example.org",
			ssotest.Attribute("Role", "Role", "auditor")
	default:
		return "", false
	}
	doc, err := p.Signed(s, true)
	if err != nil {
		return "", false
	}
	text, err := doc.WriteToBytes()
	form := url.Values{"SAMLResponse": {base64.StdEncoding.EncodeToString(text)}}
	if relayState != "" {
		form.Set("RelayState", relayState)
	}
	return form.Encode(), err == nil
}

// inJSON returns a text as it stands between the quotes of JSON.
func inJSON(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text can always be encoded
	}
	return string(out[1 : len(out)-1])
}

// samlRequest returns the id and the relay state of the request in a URL.
func samlRequest(address string) (id, relayState string) {
	u, err := url.Parse(address)
	if err != nil {
		return "", ""
	}
	packed, err := base64.StdEncoding.DecodeString(u.Query().Get("SAMLRequest"))
	if err != nil {
		return "", ""
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		return "", ""
	}
	var request struct {
		ID string `xml:"ID,attr"`
	}
	if err := xml.Unmarshal(text, &request); err != nil {
		return "", ""
	}
	return request.ID, u.Query().Get("RelayState")
}

// single are requests of single sign-on and of its administration.
func single(w walk) compare.Request {
	one := "/admin/sso/providers/" + w.of("${provider}", "${provider}", "x", "resource_r",
		"1f0e8a5c-0000-4000-8000-000000000001")
	switch w.IntN(9) {
	case 0, 1:
		body := w.ssoProvider()
		body["type"] = w.of("saml", "saml", "saml", "saml", "oidc", "")
		q := w.request(http.MethodPost, "/admin/sso/providers", w.administrator(), body)
		q.Keep["provider"] = "id"
		return q
	case 2:
		return w.request(http.MethodPut, one, w.administrator(), w.ssoProvider())
	case 3:
		return w.request(w.of("GET", "GET", "GET", "DELETE"), one, w.administrator(), nil)
	case 4:
		return w.request(http.MethodGet, "/admin/sso/providers"+w.of("", "?resource_id=r", "?resource_id_prefix=r",
			"?resource_id=x"), w.administrator(), nil)
	case 5, 6:
		body := w.pkce(object{"redirect_to": w.of("", "https://site.example.com/x", "https://evil.example.net/"),
			"skip_http_redirect": w.often(80)})
		if w.often(90) {
			body[w.of("domain", "provider_id")] = "${provider}"
		}
		if _, ok := body["domain"]; ok {
			body["domain"] = w.of("one.example", "two.example", "none.example", "")
		}
		q := w.request(http.MethodPost, "/sso", "", body)
		q.Keep["sso"] = "url"
		return q
	}
	q := w.request(http.MethodPost, "/sso/saml/acs", "", nil)
	q.Header["Content-Type"] = "application/x-www-form-urlencoded"
	q.Body = w.of("${response}", "${response}", "${response}", "${response unrequested}", "${response unrequested}",
		"${response of another}", "${response with another audience}", "${response too late}",
		"${response without address}", "${response with a transient name}", "${response with an address as name}", "",
		"SAMLResponse=x", "SAMLResponse=eA%3D%3D", "RelayState=x", "RelayState=https%3A%2F%2Fsite.example.com%2Fx",
		"RelayState=1f0e8a5c-0000-4000-8000-000000000001", "SAMLResponse=PHgvPg%3D%3D")
	return q
}

// ssoProvider is what an administrator says about a provider.
func (w walk) ssoProvider() object {
	out := object{}
	for _, member := range []struct {
		name  string
		value any
		often int
	}{
		{"metadata_xml", w.of("${metadata one}", "${metadata one}", "${metadata two}", "<x/>", ""), 80},
		{"metadata_url", w.of("http://example.org/", "x", ""), 8},
		{"domains", []string{w.of("one.example", "two.example")}, 50}, {"disabled", w.often(20), 30},
		{"resource_id", w.of("r", "s"), 20}, {"name_id_format", w.of(
			"urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress", "x", ""), 20},
		{"attribute_mapping", object{"keys": object{"name": object{"name": "Role"}, "role": object{"names": []string{"x",
			"Role"}, "array": true}, "plan": object{"name": "plan", "default": w.of("free", "paid")}}}, 50},
	} {
		if w.often(member.often) {
			out[member.name] = member.value
		}
	}
	return out
}

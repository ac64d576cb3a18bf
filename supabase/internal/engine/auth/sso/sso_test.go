package sso

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/crewjam/saml"
	"github.com/google/uuid"

	"daawo/supabase/internal/engine/auth/sso/ssotest"
)

// TestCertificate checks that a key has the certificate that GoTrue v2.196 makes of it, so that
// identity providers keep their settings after a move; and that keys in PKCS #8 are read.
func TestCertificate(t *testing.T) {
	for encrypts, want := range map[bool]string{
		false: "41f321bdcdb91b3bbe36b3220c460d16a6729bccdd2bf40b04342f49ebce329e",
		true:  "84cf561cf026ccaa9377800efd05211f66ff54a376c255c4fb0d565fb91cabee",
	} {
		pair, err := newKeyPair(testKey, "api.example.org", encrypts)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(pair.certificate.Raw); hex.EncodeToString(sum[:]) != want {
			t.Errorf("encrypts %v: %x, want %s", encrypts, sum, want)
		}
	}
	pair, err := newKeyPair(testKey, "x", false)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(pair.private)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := parseKey(base64.StdEncoding.EncodeToString(der)); err != nil || !again.Equal(pair.private) {
		t.Errorf("PKCS #8: %v", err)
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseKey(base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(small))); err == nil {
		t.Error("a key of 1024 bits is accepted")
	}
}

// testKey is a key of the tests, which the comparison with GoTrue uses, too.
//
//go:embed testdata/key.txt
var testKey string

// TestPerson checks what the attributes of an assertion become.
func TestPerson(t *testing.T) {
	id := uuid.New()
	read := func(attributes, nameID, format string, m mapping) (Person, error) {
		t.Helper()
		var a saml.Assertion
		if err := xml.Unmarshal([]byte(`<Assertion xmlns="urn:oasis:names:tc:SAML:2.0:assertion"
			xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><Subject><NameID Format="urn:oasis:names:tc:SAML:`+format+
			`">`+nameID+`</NameID></Subject><AttributeStatement>`+attributes+`</AttributeStatement></Assertion>`),
			&a); err != nil {
			t.Fatal(err)
		}
		return personOf(&a, &provider{ID: id, SAML: samlProvider{EntityID: "https://idp", Mapping: m}})
	}
	const persistent, email = "2.0:nameid-format:persistent", "1.1:nameid-format:emailAddress"
	mail := ssotest.Attribute("urn:oid:0.9.2342.19200300.100.1.3", "mail", "Ayan@example.org")
	keys := mapping{Keys: map[string]attribute{
		"name":   {Names: []string{"absent", "DISPLAYNAME"}},
		"groups": {Name: "groups", Array: true}, "first": {Name: "groups"},
		"plan": {Name: "plan", Default: "free"}, "sub": {Name: "groups"}, "email_verified": {Name: "groups"},
	}}
	got, err := read(mail+ssotest.Attribute("x", "displayName", "", "Ayan")+ssotest.Attribute("groups", "", "a", "b"),
		"n-1", persistent, keys)
	want := Person{Provider: "sso:" + id.String(), Subject: "n-1", Email: "Ayan@example.org", Data: map[string]any{
		"iss": "https://idp", "sub": "n-1", "name": "Ayan",
		"custom_claims": map[string]any{"groups": []string{"a", "b"}, "first": "a", "plan": "free"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v, want %+v", got, err, want)
	}
	named := func(key string, a attribute) mapping { return mapping{Keys: map[string]attribute{key: a}} }
	list, number := named("name", attribute{Name: "mail", Array: true}), named("name", attribute{Default: 1})
	const microsoft = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress"
	for name, c := range map[string]struct {
		attributes, nameID, format string
		mapping                    mapping
		subject, email, code       string
	}{
		"address as name": {"", " Ayan@Example.org ", email, mapping{}, "ayan@example.org", " Ayan@Example.org ", ""},
		"subject id": {mail + ssotest.Attribute(subjectID, "", "s-1"), "n", persistent, mapping{}, "s-1",
			"Ayan@example.org", ""},
		"mapped address": {mail + ssotest.Attribute("upn", "", "u@example.org"), "n", persistent,
			named("email", attribute{Name: "upn"}), "n", "u@example.org", ""},
		"no address":        {"", "n", persistent, mapping{}, "", "", "saml_assertion_no_email"},
		"transient":         {mail, "n", "2.0:nameid-format:transient", mapping{}, "", "", "saml_assertion_no_user_id"},
		"empty name":        {mail, "", persistent, mapping{}, "", "", "saml_assertion_no_user_id"},
		"list for a text":   {mail, "n", persistent, list, "", "", "unexpected_failure"},
		"number for a text": {mail, "n", persistent, number, "", "", "unexpected_failure"},
		"claims of Microsoft": {ssotest.Attribute(microsoft, "", "m@example.org"), "n", persistent, mapping{}, "n",
			"m@example.org", ""},
	} {
		p, err := read(c.attributes, c.nameID, c.format, c.mapping)
		if p.Subject != c.subject || p.Email != c.email || (err == nil) != (c.code == "") ||
			err != nil && !strings.Contains(err.Error(), c.code) {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
}

// FuzzResponse checks that a changed response is refused or says what the provider signed.
func FuzzResponse(f *testing.F) {
	pair, err := newKeyPair(testKey, "api.example.org", false)
	if err != nil {
		f.Fatal(err)
	}
	idp, err := ssotest.New(pair.private, "https://idp.example.edu")
	if err != nil {
		f.Fatal(err)
	}
	const base = "https://api.example.org/auth/v1/sso/saml/"
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, whole := range []bool{false, true} {
		s := idp.Statement(now, base, "", "member@clinic.example")
		s.ID, s.ResponseID = "ID_1", "ID_2" // the same in each process
		doc, err := idp.Signed(s, whole)
		if err != nil {
			f.Fatal(err)
		}
		text, err := doc.WriteToBytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add([]byte(strings.Replace(string(text), "<saml:Issuer>", "<!-- --><saml:Issuer>", 1)))
	}
	entity, err := parseDescription(idp.Metadata())
	if err != nil {
		f.Fatal(err)
	}
	at, err := url.Parse(base)
	if err != nil {
		f.Fatal(err)
	}
	s := &Service{Options: Options{Now: func() time.Time { return now }}, base: at, key: pair}
	f.Fuzz(func(t *testing.T, response []byte) {
		a, err := parse(s.serviceProvider(entity, true), "", response, false)
		if err != nil {
			return
		}
		p, err := personOf(a, &provider{})
		if err != nil || p.Subject != "G-member@clinic.example" || p.Email != "member@clinic.example" || a.ID != "ID_1" {
			t.Errorf("%+v %v", p, err)
		}
	})
}

package auth

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"

	"daawo/supabase/internal/engine/auth/sso/ssotest"
)

// samlIdP is an identity provider of a test.
type samlIdP struct {
	*ssotest.Provider
}

// testRSAKey returns one of the keys of the tests, which take long to make.
var testRSAKey = func() func(n int) *rsa.PrivateKey {
	var mu sync.Mutex
	made := map[int]*rsa.PrivateKey{}
	return func(n int) *rsa.PrivateKey {
		mu.Lock()
		defer mu.Unlock()
		if made[n] == nil {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				panic(err)
			}
			made[n] = key
		}
		return made[n]
	}
}()

// newSAMLIdP returns a provider with the key n of the tests.
func newSAMLIdP(t testing.TB, n int, entityID string) *samlIdP {
	t.Helper()
	p, err := ssotest.New(testRSAKey(n), entityID)
	if err != nil {
		t.Fatal(err)
	}
	return &samlIdP{p}
}

const testSAMLBase = "https://api.example.org/auth/v1/sso/saml/"

// statement returns what the provider says about a user at now.
func (p *samlIdP) statement(now time.Time, inResponseTo, email string) ssotest.Statement {
	return p.Statement(now, testSAMLBase, inResponseTo, email)
}

// document returns an unsigned response.
func document(t testing.TB, s ssotest.Statement) *etree.Document {
	t.Helper()
	doc, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// sign puts a signature of the provider into an element.
func (p *samlIdP) sign(t testing.TB, el *etree.Element, method string) {
	t.Helper()
	if err := p.Sign(el, method); err != nil {
		t.Fatal(err)
	}
}

// signed returns the response with a signed assertion, and with a signature of its own if whole.
func (p *samlIdP) signed(t testing.TB, s ssotest.Statement, whole bool) *etree.Document {
	t.Helper()
	doc, err := p.Signed(s, whole)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// samlText returns a document as SAMLResponse.
func samlText(t testing.TB, doc *etree.Document) string {
	t.Helper()
	text, err := doc.WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// withSAML enables SAML with a key of the tests.
func withSAML(o *Options) {
	o.Config.SAML = SAMLConfig{Enabled: true,
		PrivateKey: base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(testRSAKey(0)))}
}

// addIdP adds a provider with a domain as an administrator and returns its id.
func addIdP(w *world, p *samlIdP, domain string, more m) string {
	w.t.Helper()
	body := m{"type": "saml", "metadata_xml": p.Metadata(), "domains": []string{domain},
		"attribute_mapping": m{"keys": m{"role": m{"names": []string{"Role"}, "array": true},
			"name": m{"name": "displayName", "default": "Unknown"}}}}
	for name, value := range more {
		body[name] = value
	}
	return w.do("POST", "/admin/sso/providers", w.admin(), body).want(201).text("id")
}

// samlRequest begins a sign-in and returns the request and its relay state. It checks that the
// query is signed.
func samlRequest(w *world, body m) (*saml.AuthnRequest, string) {
	w.t.Helper()
	body["skip_http_redirect"] = true
	u, err := url.Parse(w.post("/sso", body).want(200).text("url"))
	if err != nil {
		w.t.Fatal(err)
	}
	q := u.Query()
	packed, err := base64.StdEncoding.DecodeString(q.Get("SAMLRequest"))
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		w.t.Fatal(err)
	}
	var request saml.AuthnRequest
	if err := xml.Unmarshal(text, &request); err != nil {
		w.t.Fatal(err)
	}
	signedPart, _, _ := strings.Cut(u.RawQuery, "&Signature=")
	signature, err := base64.StdEncoding.DecodeString(q.Get("Signature"))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := samlCertificate(w).CheckSignature(x509.SHA256WithRSA, []byte(signedPart), signature); err != nil {
		w.t.Errorf("signature of the request: %v", err)
	}
	return &request, q.Get("RelayState")
}

// samlCertificate returns the certificate in the metadata of the engine.
func samlCertificate(w *world) *x509.Certificate {
	w.t.Helper()
	var m saml.EntityDescriptor
	if err := xml.Unmarshal([]byte(w.do("GET", "/sso/saml/metadata", "", nil).want(200).raw), &m); err != nil {
		w.t.Fatal(err)
	}
	der, err := base64.StdEncoding.DecodeString(
		m.SPSSODescriptors[0].KeyDescriptors[0].KeyInfo.X509Data.X509Certificates[0].Data)
	if err != nil {
		w.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		w.t.Fatal(err)
	}
	return certificate
}

// consume posts a response and returns where the browser is sent.
func consume(w *world, response, relayState string) *url.URL {
	w.t.Helper()
	form := url.Values{"SAMLResponse": {response}}
	if relayState != "" {
		form.Set("RelayState", relayState)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), "POST", "/sso/saml/acs", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.e.ServeHTTP(rec, r)
	u, err := url.Parse(rec.Header().Get("Location"))
	if err != nil || rec.Code/100 != 3 {
		w.t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
	}
	return u
}

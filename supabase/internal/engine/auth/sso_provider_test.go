package auth

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"text/template"
	"time"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	"github.com/google/uuid"
	dsig "github.com/russellhaering/goxmldsig"
)

// samlIdP is an identity provider whose responses look like Keycloak's.
type samlIdP struct {
	entityID    string
	key         *rsa.PrivateKey
	certificate *x509.Certificate
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
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(n)), Subject: pkix.Name{CommonName: "clinic"},
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	key := testRSAKey(n)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &samlIdP{entityID, key, certificate}
}

// metadata describes the provider as Keycloak does.
func (p *samlIdP) metadata() string {
	return fmt.Sprintf(`<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"
  xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="%s"><md:IDPSSODescriptor WantAuthnRequestsSigned="true"
  protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing"><ds:KeyInfo>
  <ds:X509Data><ds:X509Certificate>%s</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
  <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="%[1]s/protocol/saml"/>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="%[1]s/protocol/saml"/>
  </md:IDPSSODescriptor></md:EntityDescriptor>`, p.entityID, base64.StdEncoding.EncodeToString(p.certificate.Raw))
}

const testACS = "https://api.example.org/auth/v1/sso/saml/acs"

// statement is what a response says.
type statement struct {
	ResponseID, ID, Version, Issuer, InResponseTo, Destination, Recipient, Audience, Status, Method string

	NameID, Format, Attributes, Authn, Conditions string

	IssuedAt, NotBefore, NotOnOrAfter, ConfirmedUntil, SessionEnd time.Time
}

// statement returns what the provider says about a user at now.
func (p *samlIdP) statement(now time.Time, inResponseTo, email string) statement {
	return statement{
		ResponseID: "ID_" + uuid.NewString(), ID: "ID_" + uuid.NewString(), Version: "2.0", Issuer: p.entityID,
		InResponseTo: inResponseTo, Destination: testACS, Recipient: testACS, Method: "bearer",
		Audience: "https://api.example.org/auth/v1/sso/saml/metadata", Status: "Success",
		NameID: "G-" + email, Format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
		Attributes: samlAttribute("urn:oid:1.2.840.113549.1.9.1", "email", email) +
			samlAttribute("Role", "Role", "surgeon", "auditor"),
		IssuedAt: now, NotBefore: now.Add(-2 * time.Second), NotOnOrAfter: now.Add(58 * time.Second),
		ConfirmedUntil: now.Add(5 * time.Minute), SessionEnd: now.Add(10 * time.Hour),
	}
}

func samlAttribute(name, friendly string, values ...string) string {
	out := fmt.Sprintf(`<saml:Attribute Name="%s" FriendlyName="%s" `+
		`NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">`, name, friendly)
	for _, v := range values {
		out += `<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" ` +
			`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">` + v + `</saml:AttributeValue>`
	}
	return out + `</saml:Attribute>`
}

var responseForm = template.Must(template.New("").Funcs(template.FuncMap{"time": func(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}}).Parse(`<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" {{with .Destination}}Destination="{{.}}"{{end}} ID="{{.ResponseID}}"
 {{with .InResponseTo}}InResponseTo="{{.}}"{{end}} IssueInstant="{{time .IssuedAt}}" Version="{{.Version}}"
><saml:Issuer>{{.Issuer}}</saml:Issuer><samlp:Status><samlp:StatusCode
 Value="urn:oasis:names:tc:SAML:2.0:status:{{.Status}}"/></samlp:Status><saml:Assertion
 xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{{.ID}}" IssueInstant="{{time .IssuedAt}}"
 Version="{{.Version}}"
><saml:Issuer>{{.Issuer}}</saml:Issuer><saml:Subject><saml:NameID Format="{{.Format}}">{{.NameID}}</saml:NameID
><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:{{.Method}}"><saml:SubjectConfirmationData
 {{with .InResponseTo}}InResponseTo="{{.}}"{{end}} NotOnOrAfter="{{time .ConfirmedUntil}}" Recipient="{{.Recipient}}"
/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{{time .NotBefore}}"
 NotOnOrAfter="{{time .NotOnOrAfter}}">{{with .Audience}}<saml:AudienceRestriction><saml:Audience>{{.}}</saml:Audience
></saml:AudienceRestriction>{{end}}{{.Conditions}}</saml:Conditions>{{if ne .Authn "none"}}<saml:AuthnStatement
 AuthnInstant="{{time .IssuedAt}}" SessionIndex="S1"
 {{if not .SessionEnd.IsZero}}SessionNotOnOrAfter="{{time .SessionEnd}}"{{end}}
><saml:AuthnContext><saml:AuthnContextClassRef
>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef
></saml:AuthnContext></saml:AuthnStatement>{{end}}<saml:AttributeStatement>{{.Attributes}}</saml:AttributeStatement
></saml:Assertion></samlp:Response>`))

// document returns the unsigned response.
func (s statement) document(t testing.TB) *etree.Document {
	t.Helper()
	var b bytes.Buffer
	if err := responseForm.Execute(&b, s); err != nil {
		t.Fatal(err)
	}
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(b.Bytes()); err != nil {
		t.Fatalf("%v: %s", err, b.String())
	}
	return doc
}

// sign puts a signature of the provider into an element, behind its issuer.
func (p *samlIdP) sign(t testing.TB, el *etree.Element, method string) {
	t.Helper()
	ctx, err := dsig.NewSigningContext(p.key, [][]byte{p.certificate.Raw})
	if err == nil {
		ctx.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
		err = ctx.SetSignatureMethod(method)
	}
	if err != nil {
		t.Fatal(err)
	}
	signature, err := ctx.ConstructSignature(el, true)
	if err != nil {
		t.Fatal(err)
	}
	el.InsertChildAt(1, signature)
}

// signed returns the response with a signed assertion, and with a signature of its own if whole.
func (p *samlIdP) signed(t testing.TB, s statement, whole bool) *etree.Document {
	t.Helper()
	doc := s.document(t)
	p.sign(t, doc.FindElement("//Assertion"), dsig.RSASHA256SignatureMethod)
	if whole {
		p.sign(t, doc.Root(), dsig.RSASHA256SignatureMethod)
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
	body := m{"type": "saml", "metadata_xml": p.metadata(), "domains": []string{domain},
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

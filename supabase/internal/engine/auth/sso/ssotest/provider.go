// Package ssotest is an identity provider for tests of single sign-on with SAML. Its responses look
// like Keycloak's. It also says wrong things and signs them.
package ssotest

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"text/template"
	"time"

	"github.com/beevik/etree"
	"github.com/google/uuid"
	dsig "github.com/russellhaering/goxmldsig"
)

// Provider is an identity provider.
type Provider struct {
	EntityID    string
	Key         *rsa.PrivateKey
	Certificate *x509.Certificate
}

// New returns a provider with a key and a certificate of the years from 2025 to 2034.
func New(key *rsa.PrivateKey, entityID string) (*Provider, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clinic"},
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Provider{entityID, key, certificate}, err
}

// Metadata describes the provider as Keycloak does.
func (p *Provider) Metadata() string {
	return fmt.Sprintf(`<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"
  xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="%s"><md:IDPSSODescriptor WantAuthnRequestsSigned="true"
  protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing"><ds:KeyInfo>
  <ds:X509Data><ds:X509Certificate>%s</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
  <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="%[1]s/protocol/saml"/>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="%[1]s/protocol/saml"/>
  </md:IDPSSODescriptor></md:EntityDescriptor>`, p.EntityID, base64.StdEncoding.EncodeToString(p.Certificate.Raw))
}

// Statement is what a response says.
type Statement struct {
	ResponseID, ID, Version, Issuer, InResponseTo, Destination, Recipient, Audience, Status, Method string

	NameID, Format, Attributes, Authn, Conditions string

	IssuedAt, NotBefore, NotOnOrAfter, ConfirmedUntil, SessionEnd time.Time
}

// Statement returns what the provider says about a user at now, to the service below base.
func (p *Provider) Statement(now time.Time, base, inResponseTo, email string) Statement {
	return Statement{
		ResponseID: "ID_" + uuid.NewString(), ID: "ID_" + uuid.NewString(), Version: "2.0", Issuer: p.EntityID,
		InResponseTo: inResponseTo, Destination: base + "acs", Recipient: base + "acs", Method: "bearer",
		Audience: base + "metadata", Status: "Success",
		NameID: "G-" + email, Format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
		Attributes: Attribute("urn:oid:1.2.840.113549.1.9.1", "email", email) +
			Attribute("Role", "Role", "surgeon", "auditor"),
		IssuedAt: now, NotBefore: now.Add(-2 * time.Second), NotOnOrAfter: now.Add(58 * time.Second),
		ConfirmedUntil: now.Add(5 * time.Minute), SessionEnd: now.Add(10 * time.Hour),
	}
}

// Attribute returns an attribute with its values, which are XML.
func Attribute(name, friendly string, values ...string) string {
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

// Document returns the unsigned response.
func (s Statement) Document() (*etree.Document, error) {
	var b bytes.Buffer
	if err := responseForm.Execute(&b, s); err != nil {
		return nil, err
	}
	doc := etree.NewDocument()
	return doc, doc.ReadFromBytes(b.Bytes())
}

// Sign puts a signature of the provider into an element, behind its issuer.
func (p *Provider) Sign(el *etree.Element, method string) error {
	ctx, err := dsig.NewSigningContext(p.Key, [][]byte{p.Certificate.Raw})
	if err != nil {
		return err
	}
	ctx.Canonicalizer = dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("")
	if err := ctx.SetSignatureMethod(method); err != nil {
		return err
	}
	signature, err := ctx.ConstructSignature(el, true)
	if err != nil {
		return err
	}
	el.InsertChildAt(1, signature)
	return nil
}

// Signed returns the response with a signed assertion, and with a signature of its own if whole.
func (p *Provider) Signed(s Statement, whole bool) (*etree.Document, error) {
	doc, err := s.Document()
	if err == nil {
		err = p.Sign(doc.FindElement("//Assertion"), dsig.RSASHA256SignatureMethod)
	}
	if err == nil && whole {
		err = p.Sign(doc.Root(), dsig.RSASHA256SignatureMethod)
	}
	return doc, err
}

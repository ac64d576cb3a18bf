package auth

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/beevik/etree"
	"github.com/crewjam/saml"
	"github.com/crewjam/saml/xmlenc"
	dsig "github.com/russellhaering/goxmldsig"
)

// encryptionCertificates returns the certificates for encryption in the metadata of the engine.
func encryptionCertificates(w *world) (out []*x509.Certificate) {
	w.t.Helper()
	var described saml.EntityDescriptor
	if err := xml.Unmarshal([]byte(w.do("GET", "/sso/saml/metadata", "", nil).want(200).raw), &described); err != nil {
		w.t.Fatal(err)
	}
	for _, d := range described.SPSSODescriptors[0].KeyDescriptors {
		if d.Use != "encryption" {
			continue
		}
		der, err := base64.StdEncoding.DecodeString(d.KeyInfo.X509Data.X509Certificates[0].Data)
		if err != nil {
			w.t.Fatal(err)
		}
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, certificate)
	}
	return out
}

// encryptText returns an EncryptedAssertion with a text.
func encryptText(t testing.TB, text []byte, to *x509.Certificate, cipher xmlenc.BlockCipher) *etree.Element {
	t.Helper()
	transport := xmlenc.OAEP()
	transport.BlockCipher = cipher
	data, err := transport.Encrypt(to, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := etree.NewElement("saml:EncryptedAssertion")
	out.CreateAttr("xmlns:saml", "urn:oasis:names:tc:SAML:2.0:assertion")
	out.AddChild(data)
	return out
}

// encrypt replaces the assertion of a response by its encrypted form.
func encrypt(t testing.TB, doc *etree.Document, to *x509.Certificate, cipher xmlenc.BlockCipher) *etree.Document {
	t.Helper()
	assertion := doc.FindElement("//Assertion")
	text, err := etree.NewDocumentWithRoot(assertion.Copy()).WriteToBytes()
	if err != nil {
		t.Fatal(err)
	}
	at := assertion.Index()
	doc.Root().RemoveChildAt(at)
	doc.Root().InsertChildAt(at, encryptText(t, text, to, cipher))
	return doc
}

// TestSAMLEncrypted checks that encrypted assertions sign in only where they are allowed, for the
// keys in the metadata, and that they need the same signatures as others.
func TestSAMLEncrypted(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	addIdP(w, p, "clinic.example", nil)
	if found := encryptionCertificates(w); len(found) != 0 {
		t.Errorf("%d certificates for encryption, though it is not allowed", len(found))
	}
	to := samlCertificate(w)
	genuine := func() said { return p.statement(w.now(), "", "ayan@clinic.example") }
	// email returns the address that a response signs in; "" if it is refused.
	email := func(doc *etree.Document) string {
		token := fragment(t, consume(w, samlText(t, doc), "")).Get("access_token")
		if token == "" {
			return ""
		}
		return w.do("GET", "/user", token, nil).want(200).text("email")
	}
	gcm, cbc := xmlenc.AES256GCM, xmlenc.AES256CBC
	if got := email(encrypt(t, p.signed(t, genuine(), false), to, gcm)); got != "" {
		t.Fatalf("not allowed, but signs in %s", got)
	}

	w.restart(func(o *Options) { o.Config.SAML.AllowEncrypted = true })
	to = samlCertificate(w)
	if !slices.ContainsFunc(encryptionCertificates(w), to.Equal) {
		t.Error("the metadata have no certificate for encryption")
	}
	signedAround := func(cipher xmlenc.BlockCipher) *etree.Document {
		doc := encrypt(t, document(t, genuine()), to, cipher)
		p.sign(t, doc.Root(), dsig.RSASHA256SignatureMethod)
		return doc
	}
	for name, doc := range map[string]*etree.Document{
		"assertion signed, then encrypted":         encrypt(t, p.signed(t, genuine(), false), to, gcm),
		"the same as ADFS encrypts":                encrypt(t, p.signed(t, genuine(), false), to, cbc),
		"response signed around the encryption":    signedAround(gcm),
		"the same as Keycloak encrypts":            signedAround(cbc),
		"plain, though encrypted ones are allowed": p.signed(t, genuine(), true),
		"encrypted with a key of 128 bits, as Entra ID does": encrypt(t, p.signed(t, genuine(), false), to,
			xmlenc.AES128CBC),
	} {
		if got := email(doc); got != "ayan@clinic.example" {
			t.Errorf("%s: %q", name, got)
		}
	}
	w.checkEncryptedForgeries(p, to, genuine, email)
	checkEncryptedRotation(w, p, genuine, email)
}

// checkEncryptedForgeries checks that encryption hides nothing from the checks.
func (w *world) checkEncryptedForgeries(p *samlIdP, to *x509.Certificate, genuine func() said,
	email func(*etree.Document) string) {
	w.t.Helper()
	t := w.t
	gcm := xmlenc.AES256GCM
	stranger := newSAMLIdP(t, 2, clinicIdP)
	elsewhere := genuine()
	elsewhere.Audience = "https://other.example"
	replayed := p.signed(t, genuine(), false)
	if email(encrypt(t, replayed.Copy(), to, gcm)) == "" {
		t.Error("the assertion to replay does not sign in")
	}
	hidden := p.signed(t, genuine(), false)
	nameVictim(hidden.Root())
	both := encrypt(t, document(t, genuine()), to, gcm)
	both.Root().AddChild(p.signed(t, genuine(), false).FindElement("//Assertion"))
	tampered := encrypt(t, p.signed(t, genuine(), false), to, gcm)
	value := tampered.FindElement("//EncryptedData/CipherData/CipherValue")
	value.SetText("AAAA" + value.Text()[4:])
	withoutText := func(text string) *etree.Document {
		doc := document(t, genuine())
		doc.Root().RemoveChild(doc.FindElement("//Assertion"))
		doc.Root().AddChild(encryptText(t, []byte(text), to, gcm))
		return doc
	}
	for name, doc := range map[string]*etree.Document{
		"nothing is signed":                    encrypt(t, document(t, genuine()), to, gcm),
		"signed by another key":                encrypt(t, stranger.signed(t, genuine(), true), to, gcm),
		"for another service's key":            encrypt(t, p.signed(t, genuine(), false), p.Certificate, gcm),
		"audience of another service":          encrypt(t, p.signed(t, elsewhere, false), to, gcm),
		"encrypted again":                      encrypt(t, replayed, to, gcm),
		"name changed before the encryption":   encrypt(t, hidden, to, gcm),
		"an unsigned one beside a signed one":  both,
		"ciphertext changed":                   tampered,
		"no assertion":                         withoutText("<a/>"),
		"no XML":                               withoutText("{}"),
		"an encrypted assertion in another":    withoutText("<saml:EncryptedAssertion/>"),
		"a document type inside, an entity":    withoutText(samlDocType + "<a>&v;</a>"),
		"an unsigned assertion with a comment": withoutText("<saml:Assertion><!-- --></saml:Assertion>"),
	} {
		if got := email(doc); got != "" {
			t.Errorf("%s: signs in %s", name, got)
		}
	}
	// A comment is not part of what a signature covers. The name must be the one that was signed.
	commented := p.signed(t, p.statement(w.now(), "", "ayan@clinic.example.evil.example"), false)
	for _, el := range append(commented.FindElements("//NameID"), commented.FindElements("//AttributeValue")...) {
		before, after, ok := strings.Cut(el.Text(), ".evil.example")
		if !ok || after != "" {
			continue
		}
		el.SetText(before)
		el.AddChild(etree.NewComment(""))
		el.AddChild(etree.NewText(".evil.example"))
	}
	if got := email(encrypt(t, commented, to, gcm)); got != "" && got != "ayan@clinic.example.evil.example" {
		t.Errorf("a comment in an encrypted name signs in %s", got)
	}
}

// checkEncryptedRotation checks that assertions for the key before and after a rotation sign in.
func checkEncryptedRotation(w *world, p *samlIdP, genuine func() said, email func(*etree.Document) string) {
	w.t.Helper()
	w.restart(func(o *Options) {
		o.Config.SAML.NextKey = base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(testRSAKey(3)))
	})
	found := encryptionCertificates(w)
	if len(found) < 2 || found[0].Equal(found[len(found)-1]) {
		w.t.Fatalf("%d certificates for encryption", len(found))
	}
	for i, certificate := range found {
		if got := email(encrypt(w.t, p.signed(w.t, genuine(), false), certificate, xmlenc.AES256GCM)); got == "" {
			w.t.Errorf("certificate %d of the metadata opens no assertion", i)
		}
	}
}

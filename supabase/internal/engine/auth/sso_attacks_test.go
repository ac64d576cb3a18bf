package auth

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"daawo/supabase/internal/engine/auth/sso/ssotest"
)

// victim is the user that the forged responses name.
const victim = "director@clinic.example"

// said is what a response says.
type said = ssotest.Statement

// samlForger makes responses from what a member of the provider's organisation may have: a response
// about the member, and another key.
type samlForger struct {
	t        testing.TB
	p, other *samlIdP
	now      time.Time
	request  string
}

// genuine returns what the provider says about the member.
func (f samlForger) genuine() said {
	return f.p.statement(f.now, f.request, "member@clinic.example")
}

// says returns a response that the provider has signed, after a change of what it says.
func (f samlForger) says(change func(*said)) *etree.Document {
	s := f.genuine()
	change(&s)
	return f.p.signed(f.t, s, true)
}

// assertion returns a response whose assertion alone is signed.
func (f samlForger) assertion() *etree.Document { return f.p.signed(f.t, f.genuine(), false) }

// evil returns the assertion of a response without its signature, about the victim.
func evil(doc *etree.Document) *etree.Element {
	el := doc.FindElement("//Assertion").Copy()
	el.RemoveChild(el.FindElement("./Signature"))
	el.CreateAttr("ID", "ID_evil")
	nameVictim(el)
	return el
}

// nameVictim replaces the member by the victim.
func nameVictim(el *etree.Element) {
	el.FindElement(".//NameID").SetText("G-" + victim)
	el.FindElement(".//AttributeValue").SetText(victim)
}

// statementForgeries are responses that the provider has signed, but not for this use.
var statementForgeries = map[string]func(*said, samlForger){
	"audience of another service":    func(s *said, _ samlForger) { s.Audience = "https://other.example" },
	"no audience":                    func(s *said, _ samlForger) { s.Audience = "" },
	"recipient of another service":   func(s *said, _ samlForger) { s.Recipient = "https://other.example/acs" },
	"destination of another service": func(s *said, _ samlForger) { s.Destination = "https://other.example/acs" },
	"no destination":                 func(s *said, _ samlForger) { s.Destination = "" },
	"another request":                func(s *said, _ samlForger) { s.InResponseTo = "id-another" },
	"no request":                     func(s *said, _ samlForger) { s.InResponseTo = "" },
	"another issuer":                 func(s *said, f samlForger) { s.Issuer = f.other.EntityID },
	"conditions expired":             func(s *said, f samlForger) { s.NotOnOrAfter = f.now.Add(-3 * time.Minute) },
	"conditions not yet valid":       func(s *said, f samlForger) { s.NotBefore = f.now.Add(4 * time.Minute) },
	"issued long ago":                func(s *said, f samlForger) { s.IssuedAt = f.now.Add(-2 * time.Minute) },
	"issued in the future":           func(s *said, f samlForger) { s.IssuedAt = f.now.Add(4 * time.Minute) },
	"confirmation expired":           func(s *said, f samlForger) { s.ConfirmedUntil = f.now.Add(-time.Hour) },
	"not a bearer":                   func(s *said, _ samlForger) { s.Method = "holder-of-key" },
	"no authentication":              func(s *said, _ samlForger) { s.Authn = "none" },
	"version 1.1":                    func(s *said, _ samlForger) { s.Version = "1.1" },
	"a failure":                      func(s *said, _ samlForger) { s.Status = "Requester" },
	"transient name": func(s *said, _ samlForger) {
		s.Format = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
	},
	"no address": func(s *said, _ samlForger) {
		s.Attributes = ssotest.Attribute("Role", "Role", "auditor")
	},
	"deep": func(s *said, _ samlForger) {
		s.Attributes = strings.Repeat("<a>", 500) + strings.Repeat("</a>", 500)
	},
}

// documentForgeries are responses that were changed after they were signed, or that no trusted key
// signed.
var documentForgeries = map[string]func(samlForger) *etree.Document{
	"unsigned": func(f samlForger) *etree.Document { return document(f.t, f.genuine()) },
	"signature removed": func(f samlForger) *etree.Document {
		doc := f.assertion()
		doc.FindElement("//Assertion").RemoveChild(doc.FindElement("//Signature"))
		return doc
	},
	"empty signature": func(f samlForger) *etree.Document {
		doc := f.assertion()
		doc.FindElement("//SignatureValue").SetText("")
		return doc
	},
	"name changed": func(f samlForger) *etree.Document {
		doc := f.assertion()
		nameVictim(doc.Root())
		return doc
	},
	"name changed below a signed response": func(f samlForger) *etree.Document {
		doc := f.says(func(*said) {})
		nameVictim(doc.Root())
		return doc
	},
	"digest changed with the name": func(f samlForger) *etree.Document {
		doc := f.assertion()
		nameVictim(doc.Root())
		forged := evil(doc)
		sum := sha256.Sum256([]byte(forged.Text()))
		doc.FindElement("//DigestValue").SetText(base64.StdEncoding.EncodeToString(sum[:]))
		return doc
	},
	"another key": func(f samlForger) *etree.Document {
		stranger := samlIdP{&ssotest.Provider{EntityID: f.p.EntityID, Key: f.other.Key,
			Certificate: f.other.Certificate}}
		return stranger.signed(f.t, f.genuine(), true)
	},
	"another key with the provider's certificate": func(f samlForger) *etree.Document {
		stranger := samlIdP{&ssotest.Provider{EntityID: f.p.EntityID, Key: f.other.Key,
			Certificate: f.p.Certificate}}
		return stranger.signed(f.t, f.genuine(), true)
	},
	"assertion of another provider": func(f samlForger) *etree.Document {
		doc := f.other.signed(f.t, f.other.statement(f.now, f.request, victim), false)
		doc.FindElement("/Response/Issuer").SetText(f.p.EntityID)
		return doc
	},
	"HMAC with the certificate": func(f samlForger) *etree.Document {
		doc := f.assertion()
		nameVictim(doc.Root())
		doc.FindElement("//SignatureMethod").CreateAttr("Algorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256")
		mac := hmac.New(sha256.New, f.p.Certificate.Raw)
		mac.Write([]byte(doc.FindElement("//SignedInfo").Text()))
		doc.FindElement("//SignatureValue").SetText(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		return doc
	},
	"SHA-1": func(f samlForger) *etree.Document {
		doc := document(f.t, f.genuine())
		f.p.sign(f.t, doc.FindElement("//Assertion"), dsig.RSASHA1SignatureMethod)
		return doc
	},
	"SHA-1 digest": func(f samlForger) *etree.Document {
		doc := document(f.t, f.genuine())
		el := doc.FindElement("//Assertion")
		ctx, err := dsig.NewSigningContext(f.p.Key, [][]byte{f.p.Certificate.Raw})
		if err != nil {
			f.t.Fatal(err)
		}
		ctx.Hash = crypto.SHA1
		signature, err := ctx.ConstructSignature(el, true)
		if err != nil {
			f.t.Fatal(err)
		}
		el.InsertChildAt(1, signature)
		return doc
	},
	"transform of XPath": func(f samlForger) *etree.Document {
		doc := f.assertion()
		doc.FindElement("//Transform").CreateAttr("Algorithm", "http://www.w3.org/TR/1999/REC-xpath-19991116")
		return doc
	},
	"reference to nothing": func(f samlForger) *etree.Document {
		doc := f.assertion()
		nameVictim(doc.Root())
		doc.FindElement("//Reference").CreateAttr("URI", "#none")
		return doc
	},
	"reference to the document": func(f samlForger) *etree.Document {
		doc := f.assertion()
		nameVictim(doc.Root())
		doc.FindElement("//Reference").CreateAttr("URI", "")
		return doc
	},
	"another id by a prefix": func(f samlForger) *etree.Document {
		doc := f.assertion()
		el := doc.FindElement("//Assertion")
		el.CreateAttr("xmlns:x", "urn:x")
		el.CreateAttr("x:ID", "ID_other")
		nameVictim(el)
		return doc
	},
	"unsigned assertion beside the signed one": func(f samlForger) *etree.Document {
		doc := f.assertion()
		doc.Root().AddChild(evil(doc))
		return doc
	},
	"unsigned assertion before the signed one": func(f samlForger) *etree.Document {
		doc := f.assertion()
		doc.Root().InsertChildAt(doc.FindElement("/Response/Assertion").Index(), evil(doc))
		return doc
	},
	"unsigned assertion with the same id": func(f samlForger) *etree.Document {
		doc := f.assertion()
		forged := evil(doc)
		forged.CreateAttr("ID", doc.FindElement("//Assertion").SelectAttrValue("ID", ""))
		doc.Root().InsertChildAt(0, forged)
		return doc
	},
	"unsigned assertion around the signed one": func(f samlForger) *etree.Document {
		doc := f.assertion()
		forged, real := evil(doc), doc.FindElement("/Response/Assertion")
		doc.Root().RemoveChild(real)
		forged.AddChild(real)
		doc.Root().AddChild(forged)
		return doc
	},
	"signed assertion in the signature of an unsigned one": func(f samlForger) *etree.Document {
		doc := f.assertion()
		forged, real := evil(doc), doc.FindElement("/Response/Assertion")
		signature := real.RemoveChild(real.FindElement("./Signature")).(*etree.Element)
		doc.Root().RemoveChild(real)
		signature.CreateElement("ds:Object").AddChild(real)
		forged.InsertChildAt(1, signature)
		doc.Root().AddChild(forged)
		return doc
	},
	"signature moved to an unsigned assertion": func(f samlForger) *etree.Document {
		doc := f.assertion()
		forged, real := evil(doc), doc.FindElement("/Response/Assertion")
		forged.InsertChildAt(1, real.RemoveChild(real.FindElement("./Signature")))
		doc.Root().InsertChildAt(1, forged)
		return doc
	},
	"signed assertion among extensions": func(f samlForger) *etree.Document {
		doc := f.assertion()
		forged, real := evil(doc), doc.FindElement("/Response/Assertion")
		doc.Root().RemoveChild(real)
		doc.Root().InsertChildAt(1, etree.NewElement("samlp:Extensions"))
		doc.FindElement("//Extensions").AddChild(real)
		doc.Root().AddChild(forged)
		return doc
	},
	"signed response in the signature of an unsigned one": func(f samlForger) *etree.Document {
		doc := f.says(func(*said) {})
		real := doc.Root()
		forged := real.Copy()
		forged.CreateAttr("ID", "ID_evil")
		nameVictim(forged)
		signature := forged.FindElement("./Signature")
		forged.FindElement("./Assertion").RemoveChild(forged.FindElement("./Assertion/Signature"))
		signature.CreateElement("ds:Object").AddChild(real)
		doc.SetRoot(forged)
		return doc
	},
	"signed response in an unsigned one": func(f samlForger) *etree.Document {
		doc := f.says(func(*said) {})
		real := doc.Root()
		forged := real.Copy()
		nameVictim(forged)
		forged.RemoveChild(forged.FindElement("./Signature"))
		forged.FindElement("./Assertion").RemoveChild(forged.FindElement("./Assertion/Signature"))
		forged.AddChild(real)
		doc.SetRoot(forged)
		return doc
	},
	"assertion of another request in a new response": func(f samlForger) *etree.Document {
		s := f.genuine()
		s.InResponseTo = "id-another"
		doc := f.p.signed(f.t, s, false)
		doc.Root().RemoveAttr("InResponseTo")
		return doc
	},
	"encrypted": func(f samlForger) *etree.Document {
		doc := document(f.t, f.genuine())
		doc.Root().RemoveChild(doc.FindElement("//Assertion"))
		doc.Root().CreateElement("saml:EncryptedAssertion")
		f.p.sign(f.t, doc.Root(), dsig.RSASHA256SignatureMethod)
		return doc
	},
}

const samlDocType = `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">` +
	`<!ENTITY v "` + victim + `">]>`

const otherEncoding = `<?xml version="1.0" encoding="latin1"?>`

// textForgeries are changes of the text of a response.
var textForgeries = map[string]func(string) string{
	"document type": func(text string) string { return samlDocType + text },
	"entity": func(text string) string {
		return samlDocType + strings.ReplaceAll(text, "G-member@clinic.example", "&v;")
	},
	"bomb": func(text string) string {
		return samlDocType + strings.ReplaceAll(text, "surgeon", strings.Repeat("&b;", 1e4))
	},
	"cut":    func(text string) string { return text[:len(text)/2] },
	"twice":  func(text string) string { return text + text },
	"no XML": func(string) string { return "{}" },
	"a namespace for each element": func(text string) string {
		return strings.Replace(text, "<saml:Issuer>", "<saml:Issuer>"+strings.Repeat(`<a xmlns:b="urn:c">`, 60), 1)
	},
	"document type in another encoding": func(text string) string {
		return otherEncoding + samlDocType + text
	},
	"comment in another encoding": func(text string) string {
		return otherEncoding + strings.Replace(text, "G-member", "G-<!-- -->member", 1)
	},
	"deep in another encoding": func(text string) string {
		return otherEncoding + strings.Replace(text, "<saml:Issuer>",
			strings.Repeat("<a>", 5e4)+strings.Repeat("</a>", 5e4)+"<saml:Issuer>", 1)
	},
	"round trip": func(text string) string {
		return strings.Replace(text, "<saml:Subject>", `<saml:Subject x:="y">`, 1)
	},
}

// TestSAMLForgeries checks that forged responses begin no session and make no account. The first
// cases are genuine ones, which must sign in.
func TestSAMLForgeries(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	other := newSAMLIdP(t, 2, "https://idp.example.net")
	id := addIdP(w, p, "clinic.example", nil)
	addIdP(w, other, "other.example", nil)
	// signsIn returns the error code of the reply; "" means that the response signs in. answers
	// sends the response to a request, alone one without a request.
	signsIn := func(response, state string) string {
		to := consume(w, response, state)
		if fragment(t, to).Get("access_token") != "" {
			return ""
		}
		return to.Query().Get("error_code")
	}
	answers := func(make func(samlForger) string) string {
		request, state := samlRequest(w, m{"provider_id": id})
		return signsIn(make(samlForger{t, p, other, w.now(), request.ID}), state)
	}
	alone := func(make func(samlForger) string) string {
		return signsIn(make(samlForger{t, p, other, w.now(), ""}), "")
	}
	for name, whole := range map[string]bool{"assertion signed": false, "both signed": true} {
		genuine := func(f samlForger) string { return samlText(t, p.signed(t, f.genuine(), whole)) }
		if a, b := answers(genuine), alone(genuine); a != "" || b != "" {
			t.Fatalf("%s: %s %s", name, a, b)
		}
	}
	before := w.count(`select count(*) from auth.sessions`)
	refused := 0
	check := func(name, code string) {
		if code == "" {
			t.Errorf("%s: signs in", name)
		}
		refused++
	}
	for name, change := range statementForgeries {
		check(name, answers(func(f samlForger) string {
			return samlText(t, f.says(func(s *said) { change(s, f) }))
		}))
	}
	for name, forge := range documentForgeries {
		check(name, alone(func(f samlForger) string { return samlText(t, forge(f)) }))
	}
	for name, change := range textForgeries {
		forged := func(f samlForger) string {
			doc, err := f.says(func(*said) {}).WriteToString()
			if err != nil {
				t.Fatal(err)
			}
			return base64.StdEncoding.EncodeToString([]byte(change(doc)))
		}
		check(name, alone(forged))
		check(name+", to a request", answers(forged))
	}
	if after := w.count(`select count(*) from auth.sessions`); after != before {
		t.Errorf("%d sessions, %d before", after, before)
	}
	if n := w.count(`select count(*) from auth.users where email not in ('member@clinic.example')`); n != 0 {
		t.Errorf("%d accounts", n)
	}
	t.Logf("%d forged responses", refused)
}

// TestSAMLReplay checks that an assertion is accepted once, whatever its way, also by another
// process.
func TestSAMLReplay(t *testing.T) {
	w, p := newWorld(t, withSAML), newSAMLIdP(t, 1, clinicIdP)
	id := addIdP(w, p, "clinic.example", nil)
	opens := func(response, state string) bool {
		return fragment(t, consume(w, response, state)).Get("access_token") != ""
	}
	alone := samlText(t, p.signed(t, p.statement(w.now(), "", "ayan@clinic.example"), true))
	if !opens(alone, "") || opens(alone, "") {
		t.Error("a response without a request is accepted twice or never")
	}
	w.restart()
	if opens(alone, "") {
		t.Error("accepted again after a restart")
	}
	request, state := samlRequest(w, m{"provider_id": id})
	answer := samlText(t, p.signed(t, p.statement(w.now(), request.ID, "ayan@clinic.example"), true))
	if !opens(answer, state) || opens(answer, state) || opens(answer, "") {
		t.Error("the answer to a request is accepted twice, never, or without its request")
	}
	_, state = samlRequest(w, m{"provider_id": id})
	if opens(answer, state) {
		t.Error("the answer to one request is accepted for another")
	}
	var used string
	if err := w.pool.Pgx().QueryRow(t.Context(),
		`select id from auth.saml_relay_states where request_id like 'assertion:%' limit 1`).Scan(&used); err != nil {
		t.Fatal(err)
	}
	fresh := samlText(t, p.signed(t, p.statement(w.now(), "", "ayan@clinic.example"), true))
	if opens(fresh, used) {
		t.Error("the record of an assertion is accepted as a request")
	}
	w.wait(25 * time.Hour)
	if err := w.e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.count(`select count(*) from auth.saml_relay_states`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if opens(alone, "") {
		t.Error("accepted again after the sweep")
	}
}

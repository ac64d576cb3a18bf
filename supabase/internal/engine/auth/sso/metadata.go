package sso

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"time"

	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

// serviceProvider returns the side of this service in the protocol with a provider, which may be
// nil for the metadata. unsolicited accepts responses without a request.
func (s *Service) serviceProvider(provider *saml.EntityDescriptor, unsolicited bool) *saml.ServiceProvider {
	at := func(name string) url.URL { return *s.base.ResolveReference(&url.URL{Path: name}) }
	sp := &saml.ServiceProvider{
		Key: s.key.private, Certificate: s.key.certificate, MetadataURL: at("metadata"), AcsURL: at("acs"),
		IDPMetadata: provider, AllowIDPInitiated: unsolicited, AuthnNameIDFormat: saml.PersistentNameIDFormat,
		SendUnspecifiedNameIDFormat: true, SignatureMethod: dsig.RSASHA256SignatureMethod,
		AssertionConsumerServiceBindings: []string{saml.HTTPPostBinding}, RejectSHA1Signatures: true,
		Clock: dsig.NewFakeClockAt(s.Now()),
	}
	if s.next != nil {
		sp.DecryptionKeys = append(sp.DecryptionKeys, s.next.private)
	}
	return sp
}

// Metadata serves GET /sso/saml/metadata: what providers need to know about this service.
func (s *Service) Metadata(w http.ResponseWriter, r *http.Request) error {
	m := s.serviceProvider(nil, true).Metadata()
	life := "public, max-age=600"
	if s.next != nil { // providers should see the next certificate before it is used
		m.CacheDuration, life = time.Hour, "public, max-age=60"
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Cache-Control", life)
	if r.FormValue("download") == "true" {
		m.ValidUntil = s.Now().AddDate(5, 0, 0)
		w.Header().Set("Content-Disposition", `attachment; filename="metadata.xml"`)
	}
	for i := range m.SPSSODescriptors {
		d := &m.SPSSODescriptors[i]
		d.AuthnRequestsSigned = nil
		d.NameIDFormats = []saml.NameIDFormat{saml.EmailAddressNameIDFormat, saml.PersistentNameIDFormat}
		d.SingleLogoutServices = nil
		d.KeyDescriptors = s.keyDescriptors(d.KeyDescriptors)
	}
	text, err := xml.Marshal(m)
	if err != nil {
		return err
	}
	_, _ = w.Write(text) // the client may have disconnected
	return nil
}

// keyDescriptors returns the certificates that the metadata have: those for encryption only if it
// is allowed, and those of the next key.
func (s *Service) keyDescriptors(all []saml.KeyDescriptor) (out []saml.KeyDescriptor) {
	for _, d := range all {
		if d.Use == "signing" || s.Config.AllowEncrypted {
			out = append(out, d)
		}
	}
	if s.next == nil {
		return out
	}
	var info saml.KeyInfo
	info.X509Data.X509Certificates = []saml.X509Certificate{{Data: s.next.encoded()}}
	out = append(out, saml.KeyDescriptor{Use: "signing", KeyInfo: info})
	if s.Config.AllowEncrypted {
		out = append(out, saml.KeyDescriptor{Use: "encryption", KeyInfo: info})
	}
	return out
}

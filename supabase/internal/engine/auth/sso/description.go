package sso

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"

	"daawo/supabase/internal/base/apierror"
)

// maxMetadata bounds the metadata of a provider, in bytes.
const maxMetadata = 512 << 10

// invalid returns the reply to an invalid value of an administrator.
func invalid(format string, args ...any) *apierror.Error {
	return apierror.Errorf(http.StatusBadRequest, "validation_failed", format, args...)
}

// parseDescription reads the metadata of one provider.
func parseDescription(text string) (*saml.EntityDescriptor, error) {
	if len(text) > maxMetadata {
		return nil, invalid("SAML Metadata XML is larger than %d bytes", maxMetadata)
	}
	if !utf8.ValidString(text) {
		return nil, invalid("SAML Metadata XML contains invalid UTF-8 characters, which are not supported at this time")
	}
	d, err := samlsp.ParseMetadata([]byte(text))
	switch {
	case err != nil:
		return nil, invalid("SAML Metadata XML is not valid").WithCause(err)
	case d.EntityID == "":
		return nil, invalid("SAML Metadata does not contain an EntityID")
	case len(d.IDPSSODescriptors) == 0:
		return nil, invalid("SAML Metadata does not contain any IDPSSODescriptor")
	case len(d.IDPSSODescriptors) > 1:
		return nil, invalid("SAML Metadata contains multiple IDPSSODescriptors")
	}
	return d, nil
}

// checkMetadataURL checks a URL of an administrator. What its name resolves to is checked at each
// connection.
func checkMetadataURL(text string) error {
	u, err := url.ParseRequestURI(text)
	switch {
	case err != nil:
		return invalid("metadata_url is not a valid URL")
	case u.Scheme != "https":
		return invalid("metadata_url is not a HTTPS URL")
	}
	return nil
}

// fetchDescription reads the metadata at a URL.
func (s *Service) fetchDescription(ctx context.Context, from string) (string, error) {
	failed := func(err error) error {
		return apierror.Errorf(http.StatusBadRequest, "saml_metadata_fetch_failed",
			"SAML Metadata could not be fetched from URL '%s'", from).WithCause(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return "", failed(err)
	}
	r.Header.Set("Accept", "application/xml;charset=UTF-8")
	response, err := s.Client.Do(r)
	if err != nil {
		return "", failed(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", apierror.Errorf(http.StatusBadRequest, "saml_metadata_fetch_failed",
			"HTTP %v error fetching SAML Metadata from URL '%s'", response.StatusCode, from)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxMetadata+1))
	if err == nil && len(text) > maxMetadata {
		err = fmt.Errorf("more than %d bytes", maxMetadata)
	}
	if err != nil {
		return "", failed(err)
	}
	return string(text), nil
}

// stale reports whether the metadata of a provider should be fetched again.
func stale(d *saml.EntityDescriptor, fetched, now time.Time) bool {
	if !d.ValidUntil.IsZero() && now.After(d.ValidUntil) {
		return true
	}
	if d.CacheDuration != 0 {
		return now.After(fetched.Add(d.CacheDuration))
	}
	return d.ValidUntil.IsZero() && now.After(fetched.Add(24*time.Hour))
}

// description returns the metadata of a provider. Stale ones with a URL are fetched again; if that
// fails, the stored ones count, so that a sign-in does not depend on it.
func (s *Service) description(ctx context.Context, p *provider) (*saml.EntityDescriptor, error) {
	d, err := parseDescription(p.SAML.MetadataXML)
	if err != nil {
		return nil, fmt.Errorf("stored metadata of SAML provider %s: %w", p.ID, err)
	}
	if p.SAML.MetadataURL == nil || *p.SAML.MetadataURL == "" {
		if left := d.ValidUntil.Sub(s.Now()); !d.ValidUntil.IsZero() && left <= 30*24*time.Hour {
			s.Log.WarnContext(ctx, "metadata of a SAML provider expire; update metadata_xml", "sso_provider_id", p.ID,
				"valid_until", d.ValidUntil)
		}
		return d, nil
	}
	if !stale(d, p.SAML.UpdatedAt, s.Now()) {
		return d, nil
	}
	fresh, text, err := s.refetch(ctx, p)
	if err != nil {
		s.Log.WarnContext(ctx, "metadata of a SAML provider cannot be fetched; the stored ones count",
			"sso_provider_id", p.ID, "error", err)
		return d, nil
	}
	_, err = s.DB.Pgx().Exec(ctx, `update auth.saml_providers set metadata_xml = $2, updated_at = $3 where id = $1`,
		p.SAML.ID, text, s.Now())
	return fresh, err
}

// refetch returns the metadata at a provider's URL, which must still describe that provider.
func (s *Service) refetch(ctx context.Context, p *provider) (*saml.EntityDescriptor, string, error) {
	text, err := s.fetchDescription(ctx, *p.SAML.MetadataURL)
	if err != nil {
		return nil, "", err
	}
	d, err := parseDescription(text)
	if err == nil && d.EntityID != p.SAML.EntityID {
		err = fmt.Errorf("they describe %q", d.EntityID)
	}
	return d, text, err
}

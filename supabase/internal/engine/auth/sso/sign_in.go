package sso

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/crewjam/saml"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// signIn is the body of POST /sso.
type signIn struct {
	ProviderID      uuid.UUID `json:"provider_id"`
	Domain          string    `json:"domain"`
	RedirectTo      string    `json:"redirect_to"`
	SkipRedirect    bool      `json:"skip_http_redirect"`
	Challenge       string    `json:"code_challenge"`
	ChallengeMethod string    `json:"code_challenge_method"`
}

var errProviderOff = apierror.Errorf(http.StatusNotFound, "sso_provider_disabled", "SSO Provider is currently disabled")

// provider returns the provider that the body names.
func (p *signIn) provider(ctx context.Context, q store.Queries) (*provider, error) {
	missing := "No such SSO provider"
	var found *provider
	var err error
	switch {
	case p.ProviderID != uuid.Nil && p.Domain != "":
		return nil, invalid("Only one of provider_id or domain supported")
	case p.ProviderID != uuid.Nil:
		found, err = findProvider(ctx, q, `where p.id = $1`, p.ProviderID)
	case p.Domain != "":
		missing = "No SSO provider assigned for this domain"
		found, err = findProvider(ctx, q, ofDomain, p.Domain)
	default:
		return nil, invalid("A provider_id or domain needs to be provided")
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierror.Errorf(http.StatusNotFound, "sso_provider_not_found", "%s", missing)
	}
	if err == nil && !found.enabled() {
		err = errProviderOff
	}
	return found, err
}

// SignIn serves POST /sso: it sends the user to the provider with a signed request.
func (s *Service) SignIn(w http.ResponseWriter, r *http.Request) error {
	var p signIn
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	ctx := r.Context()
	found, err := p.provider(ctx, s.DB.Pgx())
	if err != nil {
		return err
	}
	if err := endpoint.CheckChallenge(p.ChallengeMethod, p.Challenge); err != nil {
		return err
	}
	target, err := s.requestURL(ctx, found, p)
	if err != nil {
		return err
	}
	if p.SkipRedirect {
		return endpoint.SendJSON(w, http.StatusOK, map[string]string{"url": target})
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// requestURL stores a request and returns the provider's URL with it.
func (s *Service) requestURL(ctx context.Context, p *provider, in signIn) (string, error) {
	entity, err := parseDescription(p.SAML.MetadataXML)
	if err != nil {
		return "", fmt.Errorf("stored metadata of SAML provider %s: %w", p.ID, err)
	}
	sp := s.serviceProvider(entity, false)
	location := sp.GetSSOBindingLocation(saml.HTTPRedirectBinding)
	if location == "" {
		return "", apierror.Errorf(http.StatusUnprocessableEntity, "validation_failed",
			"SAML Metadata of the provider does not contain a SingleSignOnService with the HTTP-Redirect binding")
	}
	request, err := sp.MakeAuthenticationRequest(location, saml.HTTPRedirectBinding, saml.HTTPPostBinding)
	if err != nil {
		return "", err
	}
	if p.SAML.NameIDFormat != nil {
		request.NameIDPolicy.Format = p.SAML.NameIDFormat
	}
	state, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (uuid.UUID, error) {
		flow, err := s.Store.InsertFlow(ctx, tx, store.Flow{
			Provider: store.MethodSAML, Method: store.MethodSAML, Challenge: in.Challenge,
			ChallengeMethod: in.ChallengeMethod, Referrer: in.RedirectTo,
		})
		if err != nil {
			return uuid.Nil, err
		}
		return insertRelayState(ctx, tx, relayState{Provider: p.ID, RequestID: request.ID, RedirectTo: in.RedirectTo,
			CreatedAt: s.Now(), Flow: &flow})
	})
	if err != nil {
		return "", err
	}
	target, err := request.Redirect(state.String(), sp)
	if err != nil {
		return "", err
	}
	return target.String(), nil
}

package external

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// idTokenParams is the body of POST /token?grant_type=id_token.
type idTokenParams = struct {
	IDToken      string `json:"id_token"`
	AccessToken  string `json:"access_token"`
	Nonce        string `json:"nonce"`
	Provider     string `json:"provider"`
	ClientID     string `json:"client_id"`
	Issuer       string `json:"issuer"`
	LinkIdentity bool   `json:"link_identity"`
}

// refuseIDToken returns an error in the form of OAuth.
func refuseIDToken(format string, args ...any) error {
	err := apierror.Errorf(http.StatusBadRequest, "invalid request", format, args...)
	err.Details = endpoint.OAuthFormat{}
	return err
}

// IDTokenGrant signs in with an ID token that the client got from a provider itself.
func (s *Service) IDTokenGrant(w http.ResponseWriter, r *http.Request) error {
	var p idTokenParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.IDToken == "" {
		return refuseIDToken("id_token required")
	}
	if p.Provider == "" && (p.ClientID == "" || p.Issuer == "") {
		return refuseIDToken("provider or client_id and issuer required")
	}
	ctx := r.Context()
	f := &store.Flow{Provider: strings.ToLower(p.Provider)}
	if p.LinkIdentity {
		if r.Header.Get("Authorization") == "" {
			return refuseIDToken("Linking requires a valid user access token in Authorization")
		}
		c, err := s.Sessions.Caller(r)
		if err != nil {
			return err
		}
		if err := c.CheckOwn(); err != nil {
			return err
		}
		if err := checkLinking(s.Config, c); err != nil {
			return err
		}
		f.LinkingTargetID = &c.User.ID
	}
	provider, err := s.idTokenProvider(ctx, f.Provider, p)
	if err != nil {
		return err
	}
	f.Provider, f.EmailOptional = provider.Name, provider.Config.EmailOptional
	person, err := verifyIDToken(ctx, provider, p)
	if err != nil {
		return err
	}
	reply, err := s.LinkAccount(r, f, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		return s.Sessions.SignIn(r, tx, w.Header(), u, "oauth")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

// idTokenProvider returns the provider of an ID token. name is its name in lower case. Without a
// name the issuer tells the provider, or is one that the installation allows.
func (s *Service) idTokenProvider(ctx context.Context, name string, p idTokenParams) (*idp.Provider, error) {
	if name == "" {
		name = s.Providers.NameOf(p.Issuer)
	}
	allowed := name == "" && slices.Contains(s.Config.IDTokenIssuers, p.Issuer)
	if (allowed || s.Providers.Enabled(name)) && strings.Count(p.IDToken, ".") != 2 {
		return nil, refuseIDToken("Bad ID token") // not a JWT, so the issuer is not asked
	}
	if allowed {
		return s.Providers.Issuer(ctx, p.Issuer, p.ClientID)
	}
	provider, err := s.findProvider(ctx, name, "")
	issuer, known := idp.IDTokenIssuer(name)
	switch {
	case errors.Is(err, idp.ErrUnknown) && known:
		return nil, apierror.Errorf(http.StatusBadRequest, "provider_disabled", "Provider (issuer %q) is not enabled",
			issuer)
	case errors.Is(err, idp.ErrUnknown), err == nil && !provider.AcceptsIDTokens():
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "Custom OIDC provider %q not allowed",
			p.Provider)
	}
	if err == nil {
		if reason := provider.Excludes(p.IDToken, p.Issuer); reason != "" {
			return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed", "%s", reason)
		}
	}
	return provider, err
}

// verifyIDToken returns the user that the token names, or the reply to an invalid token.
func verifyIDToken(ctx context.Context, provider *idp.Provider, p idTokenParams) (idp.Person, error) {
	person, err := provider.VerifyIDToken(ctx, p.IDToken, p.Nonce, false)
	if err == nil && p.AccessToken != "" {
		err = provider.CheckAccessToken(ctx, p.IDToken, p.AccessToken)
	}
	if err == nil || !errors.Is(err, idp.ErrToken) {
		return person, err
	}
	reason := "Bad ID token"
	for _, known := range []string{"Nonces mismatch", "Unacceptable audience in id_token", "Missing sub claim",
		"Passed nonce"} {
		if _, after, ok := strings.Cut(err.Error(), known); ok {
			reason = known + after
			if known == "Passed nonce" {
				reason += "." // the reply ends with a full stop, a Go error does not
			}
		}
	}
	refused := refuseIDToken("%s", reason)
	if we, ok := apierror.AsError(refused); ok && reason == "Nonces mismatch" {
		we.Code = "invalid nonce"
	}
	return idp.Person{}, refused
}

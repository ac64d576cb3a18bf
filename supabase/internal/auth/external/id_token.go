package external

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/external/idp"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// IDTokenGrant signs in with an id token that the client got from a provider itself.
func (s *Service) IDTokenGrant(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		IDToken      string `json:"id_token"`
		AccessToken  string `json:"access_token"`
		Nonce        string `json:"nonce"`
		Provider     string `json:"provider"`
		ClientID     string `json:"client_id"`
		Issuer       string `json:"issuer"`
		LinkIdentity bool   `json:"link_identity"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		err := wire.Errorf(http.StatusBadRequest, "invalid request", format, args...)
		err.Details = wire.AuthOAuth{}
		return err
	}
	if p.IDToken == "" {
		return refuse("id_token required")
	}
	if p.Provider == "" && (p.ClientID == "" || p.Issuer == "") {
		return refuse("provider or client_id and issuer required")
	}
	ctx := r.Context()
	f := &store.Flow{Provider: strings.ToLower(p.Provider)}
	if p.LinkIdentity {
		if r.Header.Get("Authorization") == "" {
			return refuse("Linking requires a valid user access token in Authorization")
		}
		c, err := s.sessions.Caller(r)
		if err != nil {
			return err
		}
		if err := c.CheckOwn(); err != nil {
			return err
		}
		f.LinkingTargetID = &c.User.ID
	}
	if s.providers.Enabled(f.Provider) && strings.Count(p.IDToken, ".") != 2 {
		return refuse("Bad ID token") // no JWT: its issuer need not be asked
	}
	provider, err := s.findProvider(ctx, p.Provider, "")
	if errors.Is(err, idp.ErrUnknown) {
		if slices.Contains(ProviderNames(), f.Provider) {
			return wire.Errorf(http.StatusBadRequest, "provider_disabled", "Provider (issuer %q) is not enabled", p.Issuer)
		}
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Custom OIDC provider %q not allowed", p.Provider)
	}
	if err != nil {
		return err
	}
	f.EmailOptional = provider.Config.EmailOptional
	person, err := provider.VerifyIDToken(ctx, p.IDToken, p.Nonce, false)
	if err == nil && p.AccessToken != "" {
		err = provider.CheckAccessToken(ctx, p.IDToken, p.AccessToken)
	}
	if err != nil && !errors.Is(err, idp.ErrToken) {
		return err
	}
	if err != nil {
		reason := "Bad ID token"
		for _, told := range []string{"Nonces mismatch", "Unacceptable audience in id_token", "Missing sub claim", "Passed nonce"} {
			if _, after, ok := strings.Cut(err.Error(), told); ok {
				reason = told + after
				if told == "Passed nonce" {
					reason += "." // a sentence on the wire, no sentence in a Go error
				}
			}
		}
		return refuse("%s", reason)
	}
	reply, err := s.linkAccount(r, f, person, func(tx message.Tx, u *store.User) (*session.TokenReply, error) {
		return s.sessions.SignIn(r, tx, w.Header(), u, "oauth")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, reply)
}

package external

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// reservedParams are parameters of the authorization URL that auth sets itself. It drops them if a
// client sends them.
var reservedParams = []string{
	"client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "state", "code_challenge",
	"code_challenge_method", "code_verifier", "scope", "grant_type", "code",
}

// Authorize serves GET /authorize: it sends the user to another provider.
func (s *Service) Authorize(w http.ResponseWriter, r *http.Request) error {
	target, err := s.providerURL(r, nil)
	if err != nil {
		return err
	}
	http.Redirect(w, r, target, http.StatusFound)
	return nil
}

// LinkIdentity serves GET /user/identities/authorize: it sends a signed-in user to another
// provider, to link an identity.
func (s *Service) LinkIdentity(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	target, err := s.providerURL(r, &c.User.ID)
	if err != nil {
		return err
	}
	if r.URL.Query().Get("skip_http_redirect") == "true" {
		return endpoint.SendJSON(w, http.StatusOK, map[string]string{"url": target})
	}
	http.Redirect(w, r, target, http.StatusFound)
	return nil
}

// providerURL stores a flow and returns the provider's URL for it. The new identity will belong to
// the user linkTo, if that is not nil.
func (s *Service) providerURL(r *http.Request, linkTo *uuid.UUID) (string, error) {
	ctx, q := r.Context(), r.URL.Query()
	name := q.Get("provider")
	p, err := s.findProvider(ctx, name, q.Get("scopes"))
	if err != nil {
		reason := fmt.Sprintf("Provider %s could not be found", strings.ToLower(name))
		if strings.HasPrefix(strings.ToLower(name), idp.CustomPrefix) {
			reason = fmt.Sprintf("custom provider %s not found", strings.ToLower(name))
			if s.config.CustomProviders.Disabled {
				reason = "custom OAuth providers are disabled"
			}
		}
		if slices.Contains(append(ProviderNames(), "vercel_marketplace", "x"), strings.ToLower(name)) {
			reason = "provider is not enabled"
		}
		if !errors.Is(err, idp.ErrUnknown) {
			reason = "the provider cannot be reached"
		}
		return "", apierror.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported provider: %s",
			reason).WithCause(err)
	}
	if err := endpoint.CheckChallenge(q.Get("code_challenge_method"), q.Get("code_challenge")); err != nil {
		return "", err
	}
	f := store.Flow{
		Provider: p.Name, Method: "oauth", Challenge: q.Get("code_challenge"),
		ChallengeMethod: q.Get("code_challenge_method"), InviteToken: q.Get("invite_token"),
		Referrer: s.sender.RedirectTo(r), LinkingTargetID: linkTo, EmailOptional: p.Config.EmailOptional,
	}
	extra := map[string]string{}
	for key := range q {
		if key != "provider" && key != "scopes" && !slices.Contains(reservedParams, strings.ToLower(key)) {
			extra[key] = q.Get(key)
		}
	}
	verifier := ""
	state, err := store.InTx(ctx, s.db, func(tx pgx.Tx) (uuid.UUID, error) {
		if f.InviteToken != "" {
			if _, err := store.UserByToken(ctx, tx, f.InviteToken, store.Confirmation); errors.Is(err,
				store.ErrNotFound) {
				return uuid.Nil, apierror.Errorf(http.StatusNotFound, "user_not_found",
					"User identified by token not found")
			} else if err != nil {
				return uuid.Nil, err
			}
		}
		if p.ProofKey() {
			verifier = oauth2.GenerateVerifier()
			id := uuid.New()
			f.ClientStateID = &id
			if _, err := tx.Exec(ctx,
				`insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at)
				values ($1, $2, $3, $4)`, id, p.Name, verifier, s.now()); err != nil {
				return uuid.Nil, err
			}
		}
		return s.store.InsertFlow(ctx, tx, f)
	})
	if err != nil {
		return "", err
	}
	return p.AuthURL(state.String(), verifier, extra), nil
}

// ProviderNames returns the providers that GoTrue knows, enabled or not.
func ProviderNames() []string {
	return []string{
		"apple", "azure", "bitbucket", "discord", "facebook", "snapchat", "figma", "fly", "github", "gitlab", "google",
		"keycloak", "kakao", "linkedin", "linkedin_oidc", "notion", "spotify", "slack", "slack_oidc", "workos",
		"twitch", "twitter", "zoom",
	}
}

// findProvider returns a provider by name, of the configuration or of the administrators.
func (s *Service) findProvider(ctx context.Context, name, scopes string) (*idp.Provider, error) {
	name = strings.ToLower(name)
	if !strings.HasPrefix(name, idp.CustomPrefix) || s.config.CustomProviders.Disabled {
		return s.providers.Provider(ctx, name, scopes)
	}
	c, err := customByName(ctx, s.db.Pgx(), name, "")
	if errors.Is(err, store.ErrNotFound) || err == nil && !c.Enabled {
		return nil, idp.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return s.providers.Custom(ctx, c, strings.TrimRight(s.config.CustomProviders.ExternalURL, "/")+"/callback", scopes)
}

package external

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
		return "", s.unsupported(name, err)
	}
	if err := endpoint.CheckChallenge(q.Get("code_challenge_method"), q.Get("code_challenge")); err != nil {
		return "", err
	}
	f := store.Flow{
		ID: uuid.New(), Provider: p.Name, Method: "oauth", Challenge: q.Get("code_challenge"),
		ChallengeMethod: q.Get("code_challenge_method"), InviteToken: q.Get("invite_token"),
		Referrer: s.Sender.RedirectTo(r), LinkingTargetID: linkTo, EmailOptional: p.Config.EmailOptional,
	}
	address, kept, err := p.Begin(ctx, f.ID.String(), moreParams(q))
	if err != nil {
		return "", s.unsupported(name, err)
	}
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (uuid.UUID, error) {
		if f.InviteToken != "" {
			if _, err := store.UserByToken(ctx, tx, f.InviteToken, store.Confirmation); errors.Is(err,
				store.ErrNotFound) {
				return uuid.Nil, apierror.Errorf(http.StatusNotFound, "user_not_found",
					"User identified by token not found")
			} else if err != nil {
				return uuid.Nil, err
			}
		}
		if kept != "" {
			id := uuid.New()
			f.ClientStateID = &id
			if _, err := tx.Exec(ctx,
				`insert into auth.oauth_client_states (id, provider_type, code_verifier, created_at)
				values ($1, $2, $3, $4)`, id, p.Name, kept, s.Now()); err != nil {
				return uuid.Nil, err
			}
		}
		return s.Store.InsertFlow(ctx, tx, f)
	})
	return address, err
}

// unsupported returns the reply to a request for a provider that cannot be used.
func (s *Service) unsupported(name string, cause error) error {
	name = strings.ToLower(name)
	_, reason, _ := strings.Cut(cause.Error(), idp.ErrIncomplete.Error()+": ")
	switch {
	case errors.Is(cause, idp.ErrIncomplete):
	case !errors.Is(cause, idp.ErrUnknown):
		reason = "the provider cannot be reached"
	case idp.Known(name):
		reason = "provider is not enabled"
	case strings.HasPrefix(name, idp.CustomPrefix) && s.Config.CustomProviders.Disabled:
		reason = "custom OAuth providers are disabled"
	case strings.HasPrefix(name, idp.CustomPrefix):
		reason = fmt.Sprintf("custom provider %s not found", name)
	default:
		reason = fmt.Sprintf("Provider %s could not be found", name)
	}
	return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Unsupported provider: %s",
		reason).WithCause(cause)
}

// moreParams returns the parameters of a request that the provider gets, too. As in GoTrue,
// workos_provider is the parameter provider of WorkOS.
func moreParams(q url.Values) map[string]string {
	extra := map[string]string{}
	for key := range q {
		if key != "provider" && key != "scopes" && !slices.Contains(reservedParams, strings.ToLower(key)) {
			extra[key] = q.Get(key)
		}
	}
	if method, ok := extra["workos_provider"]; ok {
		delete(extra, "workos_provider")
		extra["provider"] = method
	}
	return extra
}

// ProviderNames returns the providers that GoTrue's /settings lists, enabled or not.
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
	if !strings.HasPrefix(name, idp.CustomPrefix) || s.Config.CustomProviders.Disabled {
		return s.Providers.Provider(ctx, name, scopes)
	}
	c, err := customByName(ctx, s.DB.Pgx(), name, "")
	if errors.Is(err, store.ErrNotFound) || err == nil && !c.Enabled {
		return nil, idp.ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return s.Providers.Custom(ctx, c, strings.TrimRight(s.Config.CustomProviders.ExternalURL, "/")+"/callback", scopes)
}

package provider

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// clientDetails is an application, as users see it.
type clientDetails struct {
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name,omitempty"`
	URI     string    `json:"uri,omitempty"`
	LogoURI string    `json:"logo_uri,omitempty"`
}

func detailsOf(c protocol.Client) clientDetails {
	return clientDetails{c.ID, c.Name, c.URI, c.LogoURI}
}

// authorizationDetails is what the consent page shows.
type authorizationDetails struct {
	ID          string        `json:"authorization_id"`
	RedirectURI string        `json:"redirect_uri"`
	Client      clientDetails `json:"client"`
	User        userDetails   `json:"user"`
	Scope       string        `json:"scope"`
}

type userDetails struct {
	ID    uuid.UUID `json:"id"`
	Email string    `json:"email,omitempty"`
}

type redirectReply struct {
	RedirectURL string `json:"redirect_url"`
}

// authorizationOf returns the pending authorization that the URL names, unless it belongs to
// another user. It first locks the user, in the order of all other transactions, and checks the
// session again.
func (s *Server) authorizationOf(r *http.Request, tx pgx.Tx, c *session.Caller) (*authorization, error) {
	ctx, u := r.Context(), c.User
	if err := s.Sessions.Reauthorize(ctx, tx, c); err != nil {
		return nil, err
	}
	a, err := findAuthorization(ctx, tx, `where authorization_id = $1`, chi.URLParam(r, "authorization_id"))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, errAuthorizationNotFound
	case err != nil:
		return nil, err
	case a.Status != "pending":
		return nil, apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"authorization request cannot be processed")
	case s.Now().After(a.ExpiresAt):
		if _, err := tx.Exec(ctx, `update auth.oauth_authorizations set status = 'expired' where id = $1`,
			a.ID); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(errAuthorizationNotFound)
	case a.UserID != nil && *a.UserID != u.ID:
		return nil, errAuthorizationNotFound
	}
	return a, nil
}

// Details serves GET /oauth/authorizations/{id}: it replies with what the consent page shows, or
// with the redirect if the user has consented to the scopes before. It assigns the authorization to
// the user.
func (s *Server) Details(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	ctx := r.Context()
	out, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		a, err := s.authorizationOf(r, tx, c)
		if err != nil {
			return nil, err
		}
		client, err := clientByID(ctx, tx, a.ClientID, "")
		if errors.Is(err, store.ErrNotFound) {
			return nil, errAuthorizationNotFound
		}
		if err != nil {
			return nil, err
		}
		if a.UserID == nil {
			if _, err := tx.Exec(ctx, `update auth.oauth_authorizations set user_id = $2 where id = $1`, a.ID,
				c.User.ID); err != nil {
				return nil, err
			}
			agreed, err := consentedScopes(ctx, tx, c.User.ID, a.ClientID)
			if err != nil {
				return nil, err
			}
			if protocol.Covers(agreed, protocol.Scopes(a.Scope)) {
				return s.approve(ctx, tx, a)
			}
		}
		return authorizationDetails{a.Name, a.RedirectURI, detailsOf(client), userDetails{c.User.ID, c.User.Email},
			a.Scope}, nil
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, out)
}

// Consent serves POST /oauth/authorizations/{id}/consent with the user's decision.
func (s *Server) Consent(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	var p struct {
		Action string `json:"action"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Action != "approve" && p.Action != "deny" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "action must be 'approve' or 'deny'")
	}
	ctx := r.Context()
	out, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (redirectReply, error) {
		var none redirectReply
		a, err := s.authorizationOf(r, tx, c)
		if err != nil {
			return none, err
		}
		if a.UserID == nil { // Details was not requested, so the user has not seen the request
			return none, errAuthorizationNotFound
		}
		if p.Action == "deny" {
			_, err := tx.Exec(ctx, `update auth.oauth_authorizations set status = 'denied' where id = $1`, a.ID)
			return redirectReply{back(a.RedirectURI, "error", "access_denied", "error_description",
				"User denied the request", "state", a.State)}, err
		}
		if _, err := tx.Exec(ctx, `
			insert into auth.oauth_consents (id, user_id, client_id, scopes, granted_at) values ($1, $2, $3, $4, $5)
			on conflict on constraint oauth_consents_user_client_unique
			do update set scopes = excluded.scopes, granted_at = excluded.granted_at, revoked_at = null`,
			uuid.New(), c.User.ID, a.ClientID, strings.Join(protocol.Scopes(a.Scope), " "), s.Now()); err != nil {
			return none, err
		}
		return s.approve(ctx, tx, a)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, out)
}

// approve gives an authorization its code and returns the redirect.
func (s *Server) approve(ctx context.Context, tx pgx.Tx, a *authorization) (redirectReply, error) {
	code := newSecretName()
	_, err := tx.Exec(ctx, `
		update auth.oauth_authorizations set status = 'approved', approved_at = $2, authorization_code = $3
		where id = $1`,
		a.ID, s.Now(), hashCode(code))
	return redirectReply{back(a.RedirectURI, "code", code, "state", a.State)}, err
}

// FromSite calls h unless the Origin of the request is another site than the allowed ones.
func (s *Server) FromSite(h endpoint.Handler) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if origin := r.Header.Get("Origin"); origin != "" && !s.Redirects.Allows(origin) {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed", "unauthorized request origin")
		}
		return h(w, r)
	}
}

package provider

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// consentedScopes returns the scopes that a user has granted to an application.
func consentedScopes(ctx context.Context, tx pgx.Tx, user, client uuid.UUID) ([]string, error) {
	var scopes string
	err := tx.QueryRow(ctx, `select scopes from auth.oauth_consents
		where user_id = $1 and client_id = $2 and revoked_at is null`, user, client).Scan(&scopes)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return protocol.Scopes(scopes), err
}

// WithServerForUser is WithServer for endpoints of users.
func (s *Server) WithServerForUser(h func(http.ResponseWriter, *http.Request,
	*session.Caller) error) func(http.ResponseWriter, *http.Request, *session.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
		if err := s.checkEnabled(); err != nil {
			return err
		}
		return h(w, r, c)
	}
}

// grant is what a user has granted to an application.
type grant struct {
	Client    clientDetails `json:"client"`
	Scopes    []string      `json:"scopes"`
	GrantedAt time.Time     `json:"granted_at"`
}

// ListGrants serves GET /user/oauth/grants: the applications with a grant of the user.
func (s *Server) ListGrants(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	rows, err := s.DB.Pgx().Query(r.Context(), `
		select c.id, coalesce(c.client_name, ''), coalesce(c.client_uri, ''), coalesce(c.logo_uri, ''), o.scopes,
			o.granted_at
		  from auth.oauth_consents o join auth.oauth_clients c on c.id = o.client_id and c.deleted_at is null
		 where o.user_id = $1 and o.revoked_at is null order by o.granted_at desc, c.id`, c.User.ID)
	if err != nil {
		return err
	}
	grants, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (grant, error) {
		var g grant
		var scopes string
		err := row.Scan(&g.Client.ID, &g.Client.Name, &g.Client.URI, &g.Client.LogoURI, &scopes, &g.GrantedAt)
		g.Scopes, g.GrantedAt = protocol.Scopes(scopes), g.GrantedAt.UTC()
		return g, err
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, grants)
}

// RevokeGrant serves DELETE /user/oauth/grants: it revokes the grant of an application and ends its
// sessions.
func (s *Server) RevokeGrant(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	text := r.URL.Query().Get("client_id")
	client, err := uuid.Parse(text)
	switch {
	case text == "":
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "client_id query parameter is required")
	case err != nil:
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "invalid client_id format")
	}
	ctx := r.Context()
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		done, err := tx.Exec(ctx, `
			update auth.oauth_consents set revoked_at = greatest($3, granted_at)
			where user_id = $1 and client_id = $2 and revoked_at is null`,
			c.User.ID, client, s.Now())
		if err != nil {
			return nil, err
		}
		if done.RowsAffected() == 0 {
			return nil, apierror.Errorf(http.StatusNotFound, "oauth_consent_not_found",
				"No active grant found for this client")
		}
		// in this order: a concurrent exchange locks its authorization until its session is visible
		for _, statement := range []string{
			`delete from auth.oauth_authorizations where user_id = $1 and client_id = $2`,
			`delete from auth.sessions where user_id = $1 and oauth_client_id = $2`,
		} {
			if _, err := tx.Exec(ctx, statement, c.User.ID, client); err != nil {
				return nil, err
			}
		}
		return nil, s.Store.Audit(ctx, tx, c.User, "token_revoked",
			map[string]any{"oauth_client_id": client, "action": "revoke_oauth_grant"})
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

package external

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/external/idp"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// CustomProviders serves the endpoints for administrators who add providers while the server runs.
type CustomProviders struct {
	DB        *pool.Pool // as supabase_auth_admin
	Sessions  *session.Manager
	Providers *idp.Registry
	Now       func() time.Time
	Config    CustomConfig
}

const selectCustom = `
	select id, provider_type, identifier, name, client_id, client_secret, acceptable_client_ids, scopes, pkce_enabled,
	       attribute_mapping, custom_claims_allowlist, authorization_params, enabled, email_optional, issuer,
	       discovery_url, skip_nonce_check, cached_discovery, authorization_url, token_url, userinfo_url, jwks_uri,
	       created_at, updated_at
	  from auth.custom_oauth_providers `

// findCustom returns the providers that rest (a condition, an order, a lock) selects.
func findCustom(ctx context.Context, q store.Queries, rest string, args ...any) ([]idp.Custom, error) {
	rows, err := q.Query(ctx, selectCustom+rest, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[idp.Custom])
	for i := range found {
		found[i].CreatedAt, found[i].UpdatedAt = found[i].CreatedAt.UTC(), found[i].UpdatedAt.UTC()
	}
	return found, err
}

// customByName returns a provider, or store.ErrNotFound. lock is "" or the lock on the row.
func customByName(ctx context.Context, q store.Queries, name, lock string) (idp.Custom, error) {
	found, err := findCustom(ctx, q, `where identifier = $1 `+lock, name)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return idp.Custom{}, err
	}
	return found[0], nil
}

// storeCustom inserts a provider or updates it.
func storeCustom(ctx context.Context, tx pgx.Tx, c idp.Custom) error {
	_, err := tx.Exec(ctx, `
		insert into auth.custom_oauth_providers (
		  id, provider_type, identifier, name, client_id, client_secret, acceptable_client_ids, scopes, pkce_enabled,
		  attribute_mapping, custom_claims_allowlist, authorization_params, enabled, email_optional, issuer,
		  discovery_url, skip_nonce_check, cached_discovery, discovery_cached_at, authorization_url, token_url,
		  userinfo_url, jwks_uri, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
		        $18, case when $18::jsonb is not null then $24::timestamptz end, $19, $20, $21, $22, $23, $24)
		on conflict (id) do update
		set name = excluded.name, client_id = excluded.client_id, client_secret = excluded.client_secret,
		    acceptable_client_ids = excluded.acceptable_client_ids, scopes = excluded.scopes,
		    pkce_enabled = excluded.pkce_enabled, attribute_mapping = excluded.attribute_mapping,
		    custom_claims_allowlist = excluded.custom_claims_allowlist,
		    authorization_params = excluded.authorization_params, enabled = excluded.enabled,
		    email_optional = excluded.email_optional, issuer = excluded.issuer,
		    discovery_url = excluded.discovery_url,
		    skip_nonce_check = excluded.skip_nonce_check, cached_discovery = excluded.cached_discovery,
		    discovery_cached_at = excluded.discovery_cached_at, authorization_url = excluded.authorization_url,
		    token_url = excluded.token_url, userinfo_url = excluded.userinfo_url,
		    jwks_uri = excluded.jwks_uri, updated_at = excluded.updated_at`,
		c.ID, c.Kind, c.Identifier, c.Name, c.ClientID, c.Secret, c.ClientIDs, c.Scopes, c.ProofKey, c.Attributes,
		c.Claims, c.Params, c.Enabled, c.EmailOptional, c.Issuer, c.DiscoveryURL, c.SkipNonceCheck, c.Discovery,
		c.AuthURL, c.TokenURL, c.UserinfoURL, c.JWKSURI, c.CreatedAt, c.UpdatedAt)
	if pool.IsCode(err, "23505") {
		return apierror.Errorf(http.StatusBadRequest, "conflict",
			"A custom OAuth provider with this identifier already exists")
	}
	return err
}

// AsAdmin calls h for an administrator, if custom providers are enabled.
func (s *CustomProviders) AsAdmin(h endpoint.Handler) endpoint.Handler {
	return s.Sessions.AsAdmin(func(w http.ResponseWriter, r *http.Request, _ *store.User) error {
		if s.Config.Disabled {
			return apierror.Errorf(http.StatusNotFound, "feature_disabled", "Custom OAuth providers are disabled")
		}
		return h(w, r)
	})
}

// List serves GET /admin/custom-providers, oldest first. The parameter type selects oauth2 or oidc.
func (s *CustomProviders) List(w http.ResponseWriter, r *http.Request) error {
	kind := r.URL.Query().Get("type")
	if kind != "" && kind != "oauth2" && kind != "oidc" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "type must be either 'oauth2' or 'oidc'")
	}
	found, err := findCustom(r.Context(), s.DB.Pgx(), `where $1 in ('', provider_type) order by created_at, id`, kind)
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, map[string]any{"providers": found})
}

// Create serves POST /admin/custom-providers.
func (s *CustomProviders) Create(w http.ResponseWriter, r *http.Request) error {
	var d idp.Description
	if err := endpoint.ReadJSON(r, &d); err != nil {
		return err
	}
	ctx := r.Context()
	c, err := idp.NewCustom(d, s.Now())
	if err == nil && c.OpenID() {
		err = s.Providers.Discover(ctx, &c) // before the transaction, because it calls another server
	}
	if err != nil {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%v", err)
	}
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		if most := s.Config.Max; most > 0 {
			// The lock keeps two concurrent requests from exceeding the maximum.
			if _, err := tx.Exec(ctx,
				`lock table auth.custom_oauth_providers in share row exclusive mode`); err != nil {
				return nil, err
			}
			var n int
			if err := tx.QueryRow(ctx, `select count(*) from auth.custom_oauth_providers`).Scan(&n); err != nil {
				return nil, err
			}
			if n >= most {
				return nil, apierror.Errorf(http.StatusBadRequest, "over_custom_provider_quota",
					"Maximum number of custom OAuth/OIDC providers reached")
			}
		}
		return nil, storeCustom(ctx, tx, c)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusCreated, c)
}

var errNoCustom = apierror.Errorf(http.StatusNotFound, "custom_provider_not_found", "Custom OAuth provider not found")

// OfProvider calls h with the provider that the URL of an administrator names.
func (s *CustomProviders) OfProvider(h func(http.ResponseWriter, *http.Request, idp.Custom) error) endpoint.Handler {
	return s.AsAdmin(func(w http.ResponseWriter, r *http.Request) error {
		name := chi.URLParam(r, "identifier")
		if !strings.HasPrefix(name, idp.CustomPrefix) {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed",
				"identifier must start with 'custom:' prefix, e.g. 'custom:%s'", name)
		}
		c, err := customByName(r.Context(), s.DB.Pgx(), name, "")
		if errors.Is(err, store.ErrNotFound) {
			return errNoCustom
		}
		if err != nil {
			return err
		}
		return h(w, r, c)
	})
}

// Get serves GET /admin/custom-providers/{identifier}.
func (s *CustomProviders) Get(w http.ResponseWriter, _ *http.Request, c idp.Custom) error {
	return endpoint.SendJSON(w, http.StatusOK, c)
}

// Update serves PUT /admin/custom-providers/{identifier}. If the issuer changes, its discovery
// document is read before the transaction. Concurrent changes of other members are kept.
func (s *CustomProviders) Update(w http.ResponseWriter, r *http.Request, c idp.Custom) error {
	var d idp.Description
	if err := endpoint.ReadJSON(r, &d); err != nil {
		return err
	}
	ctx, moves := r.Context(), c.OpenID() && (d.Issuer != nil || d.DiscoveryURL != nil)
	err := c.Change(d, s.Now())
	if err == nil && moves {
		err = s.Providers.Discover(ctx, &c)
	}
	if err != nil {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%v", err)
	}
	found := c.Discovery
	c, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (idp.Custom, error) {
		c, err := customByName(ctx, tx, c.Identifier, "for update")
		if errors.Is(err, store.ErrNotFound) {
			return c, errNoCustom
		}
		if err != nil {
			return c, err
		}
		if err := c.Change(d, s.Now()); err != nil {
			return c, err
		}
		if moves {
			c.Discovery = found
		}
		return c, storeCustom(ctx, tx, c)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, c)
}

// Delete serves DELETE /admin/custom-providers/{identifier}.
func (s *CustomProviders) Delete(w http.ResponseWriter, r *http.Request, c idp.Custom) error {
	ctx := r.Context()
	if _, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		_, err := tx.Exec(ctx, `delete from auth.custom_oauth_providers where id = $1`, c.ID)
		return nil, err
	}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

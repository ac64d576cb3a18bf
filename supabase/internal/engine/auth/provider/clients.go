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
	"daawo/supabase/internal/engine/auth/store"
)

// checkEnabled returns the reply of GoTrue when its OAuth server is disabled; nil if it is enabled.
func (s *Server) checkEnabled() error {
	if !s.Config.Enabled {
		return apierror.Errorf(http.StatusNotFound, "feature_disabled", "OAuth server is disabled")
	}
	return nil
}

// WithServer calls h if the OAuth server is enabled.
func (s *Server) WithServer(h endpoint.Handler) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.checkEnabled(); err != nil {
			return err
		}
		return h(w, r)
	}
}

// AsClientAdmin calls h for an administrator, if the OAuth server is enabled.
func (s *Server) AsClientAdmin(h endpoint.Handler) endpoint.Handler {
	return s.Sessions.AsAdmin(func(w http.ResponseWriter, r *http.Request,
		_ *store.User) error {
		return s.WithServer(h)(w, r)
	})
}

const selectClient = `
	select id, coalesce(client_secret_hash, '') client_secret_hash, client_type::text, token_endpoint_auth_method,
	       string_to_array(redirect_uris, ',') redirect_uris, string_to_array(grant_types, ',') grant_types,
	       coalesce(client_name, '') client_name, coalesce(client_uri, '') client_uri, coalesce(logo_uri, '') logo_uri,
	       registration_type::text, created_at, updated_at
	  from auth.oauth_clients `

// findClients returns the clients that rest (a condition, an order, a limit) selects.
func findClients(ctx context.Context, q store.Queries, rest string, args ...any) ([]protocol.Client, error) {
	rows, err := q.Query(ctx, selectClient+rest, args...)
	if err != nil {
		return nil, err
	}
	clients, err := pgx.CollectRows(rows, pgx.RowToStructByName[protocol.Client])
	for i := range clients {
		c := &clients[i]
		c.Responses = []string{"code"}
		c.CreatedAt, c.UpdatedAt = c.CreatedAt.UTC(), c.UpdatedAt.UTC()
	}
	return clients, err
}

// clientByID returns a client that is not deleted, or store.ErrNotFound. lock is "" or the lock on
// the row.
func clientByID(ctx context.Context, q store.Queries, id uuid.UUID, lock string) (protocol.Client, error) {
	found, err := findClients(ctx, q, `where id = $1 and deleted_at is null `+lock, id)
	if err != nil {
		return protocol.Client{}, err
	}
	if len(found) == 0 {
		return protocol.Client{}, store.ErrNotFound
	}
	return found[0], nil
}

// storeClient inserts a client or updates it.
func storeClient(ctx context.Context, tx pgx.Tx, c protocol.Client) error {
	_, err := tx.Exec(ctx, `
		insert into auth.oauth_clients (
		  id, client_secret_hash, registration_type, redirect_uris, grant_types, client_name, client_uri, logo_uri,
		  created_at, updated_at, client_type, token_endpoint_auth_method)
		values ($1, $2, $3::auth.oauth_registration_type, $4, $5, nullif($6, ''), nullif($7, ''),
			nullif($8, ''),
		        $9, $10, $11::auth.oauth_client_type, $12)
		on conflict (id) do update
		set client_secret_hash = excluded.client_secret_hash, redirect_uris = excluded.redirect_uris,
		    grant_types = excluded.grant_types, client_name = excluded.client_name, client_uri = excluded.client_uri,
		    logo_uri = excluded.logo_uri, updated_at = excluded.updated_at,
		    token_endpoint_auth_method = excluded.token_endpoint_auth_method`,
		c.ID, c.SecretHash, c.Registration, strings.Join(c.RedirectURIs, ","), strings.Join(c.Grants, ","), c.Name,
		c.URI, c.LogoURI, c.CreatedAt, c.UpdatedAt, c.Type, c.AuthMethod)
	return err
}

// CreateClient serves POST /admin/oauth/clients.
func (s *Server) CreateClient(w http.ResponseWriter, r *http.Request) error {
	return s.registerClient(w, r, "manual")
}

// RegisterClient serves POST /oauth/clients/register (RFC 7591).
func (s *Server) RegisterClient(w http.ResponseWriter, r *http.Request) error {
	if !s.Config.DynamicRegistration {
		return apierror.Errorf(http.StatusForbidden, "oauth_dynamic_client_registration_disabled",
			"Dynamic client registration is not enabled")
	}
	return s.registerClient(w, r, "dynamic")
}

func (s *Server) registerClient(w http.ResponseWriter, r *http.Request, registration string) error {
	var m protocol.Metadata
	if err := endpoint.ReadJSON(r, &m); err != nil {
		return err
	}
	c, err := protocol.Register(m, registration, s.Now())
	if err != nil {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%v", err)
	}
	if _, err := store.InTx(r.Context(), s.DB,
		func(tx pgx.Tx) (any, error) { return nil, storeClient(r.Context(), tx, c) }); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return endpoint.SendJSON(w, http.StatusCreated, c)
}

// ListClients serves GET /admin/oauth/clients: all clients, newest first, or one page of them.
func (s *Server) ListClients(w http.ResponseWriter, r *http.Request) error {
	q, ctx := r.URL.Query(), r.Context()
	var total uint64
	if err := s.DB.Pgx().QueryRow(ctx,
		`select count(*) from auth.oauth_clients where deleted_at is null`).Scan(&total); err != nil {
		return err
	}
	page, perPage := uint64(1), max(total, 1)
	if q.Get("page") != "" || q.Get("per_page") != "" {
		var err error
		if page, perPage, err = endpoint.Page(q); err != nil {
			return err
		}
	}
	clients, err := findClients(ctx, s.DB.Pgx(),
		`where deleted_at is null order by created_at desc, id limit $1 offset $2`, perPage, (page-1)*perPage)
	if err != nil {
		return err
	}
	endpoint.SetPages(w.Header(), r.URL, page, perPage, total)
	return endpoint.SendJSON(w, http.StatusOK, map[string]any{"clients": clients})
}

// OfClient calls h with the client that the URL names, with its row locked. It stores the client if
// h has changed it, and replies with the status that h returns.
func (s *Server) OfClient(h func(r *http.Request, tx pgx.Tx, c *protocol.Client) (status int,
	err error)) endpoint.Handler {
	return s.AsClientAdmin(func(w http.ResponseWriter, r *http.Request) error {
		id, err := uuid.Parse(chi.URLParam(r, "client_id"))
		if err != nil {
			return apierror.Errorf(http.StatusBadRequest, "validation_failed", "invalid client_id format")
		}
		ctx, status := r.Context(), 0
		c, err := store.InTx(ctx, s.DB, func(tx pgx.Tx) (protocol.Client, error) {
			c, err := clientByID(ctx, tx, id, "for no key update") // sessions refer to the row
			if err != nil {
				return c, err
			}
			was := c.UpdatedAt
			if status, err = h(r, tx, &c); err == nil && c.UpdatedAt != was {
				err = storeClient(ctx, tx, c)
			}
			return c, err
		})
		switch {
		case errors.Is(err, store.ErrNotFound):
			return apierror.Errorf(http.StatusNotFound, "oauth_client_not_found", "OAuth client not found")
		case err != nil:
			return err
		case status == http.StatusNoContent:
			w.WriteHeader(status)
			return nil
		}
		w.Header().Set("Cache-Control", "no-store")
		return endpoint.SendJSON(w, status, c)
	})
}

// GetClient serves GET /admin/oauth/clients/{id}.
func (s *Server) GetClient(*http.Request, pgx.Tx, *protocol.Client) (int, error) {
	return http.StatusOK, nil
}

// UpdateClient serves PUT /admin/oauth/clients/{id}.
func (s *Server) UpdateClient(r *http.Request, _ pgx.Tx, c *protocol.Client) (int, error) {
	var m protocol.Metadata
	if err := endpoint.ReadJSON(r, &m); err != nil {
		return 0, err
	}
	if m.Empty() {
		return 0, apierror.Errorf(http.StatusBadRequest, "validation_failed", "No fields provided for update")
	}
	if err := c.Change(m, s.Now()); err != nil {
		return 0, apierror.Errorf(http.StatusBadRequest, "validation_failed", "%v", err)
	}
	return http.StatusOK, nil
}

// RenewSecret serves POST /admin/oauth/clients/{id}/regenerate_secret.
func (s *Server) RenewSecret(_ *http.Request, _ pgx.Tx, c *protocol.Client) (int, error) {
	if c.Type == protocol.Public {
		return 0, apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Cannot regenerate secret for public client")
	}
	c.NewSecret()
	c.UpdatedAt = s.Now()
	return http.StatusOK, nil
}

// DeleteClient serves DELETE /admin/oauth/clients/{id}: it marks the client as deleted, as GoTrue
// does, and deletes its authorizations and sessions.
func (s *Server) DeleteClient(r *http.Request, tx pgx.Tx, c *protocol.Client) (int, error) {
	ctx := r.Context()
	if _, err := tx.Exec(ctx, `update auth.oauth_clients set deleted_at = $2, updated_at = $2 where id = $1`, c.ID,
		s.Now()); err != nil {
		return 0, err
	}
	// In this order: a concurrent exchange locks its authorization until its session is visible.
	if _, err := tx.Exec(ctx, `delete from auth.oauth_authorizations where client_id = $1`, c.ID); err != nil {
		return 0, err
	}
	_, err := tx.Exec(ctx, `delete from auth.sessions where oauth_client_id = $1`, c.ID)
	return http.StatusNoContent, err
}

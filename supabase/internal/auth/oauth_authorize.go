package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/provider/protocol"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// An authorization is an application's wish on its way: asked for (pending), granted (approved, with a code), refused
// (denied) or too late (expired).
type authorization struct {
	ID          uuid.UUID  `db:"id"`
	Name        string     `db:"authorization_id"` // the consent page knows it by this
	ClientID    uuid.UUID  `db:"client_id"`
	UserID      *uuid.UUID `db:"user_id"`
	RedirectURI string     `db:"redirect_uri"`
	Scope       string     `db:"scope"`
	State       string     `db:"state"`
	Resource    string     `db:"resource"`
	Nonce       string     `db:"nonce"`
	Challenge   string     `db:"code_challenge"`
	Method      string     `db:"code_challenge_method"`
	Status      string     `db:"status"`
	ExpiresAt   time.Time  `db:"expires_at"`
}

var errAuthorizationNotFound = wire.Errorf(http.StatusNotFound, "oauth_authorization_not_found", "authorization not found")

// findAuthorization finds and locks an authorization: of two who use it at once the second finds it used.
func findAuthorization(ctx context.Context, tx pgx.Tx, where string, args ...any) (*authorization, error) {
	rows, err := tx.Query(ctx, `
		select id, authorization_id, client_id, user_id, redirect_uri, scope, coalesce(state, '') state, coalesce(resource, '') resource,
		       coalesce(nonce, '') nonce, coalesce(code_challenge, '') code_challenge,
		       coalesce(code_challenge_method::text, '') code_challenge_method, status::text, expires_at
		  from auth.oauth_authorizations `+where+` for update`, args...)
	if err != nil {
		return nil, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByName[authorization])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, store.ErrNotFound
	}
	return a, err
}

// oauthAuthorize answers GET /oauth/authorize: it notes the wish and leads the person to the site's consent page. An
// application that is not known, or a redirect URI that is not letter for letter its own, leads nowhere.
func (e *Engine) oauthAuthorize(w http.ResponseWriter, r *http.Request) error {
	ctx, p := r.Context(), protocol.Read(r.URL.Query())
	if p.ClientID == "" || p.RedirectURI == "" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "client_id and redirect_uri are required")
	}
	unknown := wire.Errorf(http.StatusBadRequest, "oauth_client_not_found", "invalid client_id")
	id, err := uuid.Parse(p.ClientID)
	if err != nil {
		return unknown
	}
	c, err := clientByID(ctx, e.db.Pgx(), id, "")
	if errors.Is(err, store.ErrNotFound) {
		return unknown
	}
	if err != nil {
		return err
	}
	if !slices.Contains(c.RedirectURIs, p.RedirectURI) {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "invalid redirect_uri")
	}
	p.Scope = cmp.Or(p.Scope, e.config.OAuthServer.DefaultScope)
	err = p.Check()
	if err == nil && slices.Contains(protocol.Scopes(p.Scope), protocol.ScopeOpenID) && !e.signsIDTokens() {
		err = errors.New("scope openid requires an asymmetric signing key")
	}
	if err != nil {
		http.Redirect(w, r, back(p.RedirectURI, "error", "invalid_request", "error_description", err.Error(), "state", p.State), http.StatusFound)
		return nil
	}
	if e.config.OAuthServer.ConsentPath == "" {
		http.Redirect(w, r, back(p.RedirectURI, "error", "server_error", "error_description", "oauth authorization path not configured", "state", p.State), http.StatusFound)
		return nil
	}
	name, now := newSecretName(), e.now()
	_, err = store.InTx(ctx, e.db, func(tx pgx.Tx) (any, error) {
		_, err := tx.Exec(ctx, `
			insert into auth.oauth_authorizations (
			  id, authorization_id, client_id, redirect_uri, scope, state, resource, nonce, code_challenge, code_challenge_method,
			  response_type, status, created_at, expires_at)
			values ($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8, ''), $9, 's256', 'code', 'pending', $10, $11)`,
			uuid.New(), name, c.ID, p.RedirectURI, p.Scope, p.State, p.Resource, p.Nonce, p.Challenge, now, now.Add(e.config.OAuthServer.Life))
		return nil, err
	})
	if err != nil {
		return err
	}
	page := strings.TrimRight(e.config.SiteURL, "/") + "/" + strings.TrimLeft(e.config.OAuthServer.ConsentPath, "/")
	http.Redirect(w, r, back(page, "authorization_id", name), http.StatusFound)
	return nil
}

type clientDetails struct {
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name,omitempty"`
	URI     string    `json:"uri,omitempty"`
	LogoURI string    `json:"logo_uri,omitempty"`
}

func detailsOf(c protocol.Client) clientDetails {
	return clientDetails{c.ID, c.Name, c.URI, c.LogoURI}
}

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

// authorizationOf finds the pending authorization that a request names and binds it to the first who looks at it: nobody
// else may decide it.
func (e *Engine) authorizationOf(r *http.Request, tx pgx.Tx, u *store.User) (*authorization, error) {
	ctx := r.Context()
	a, err := findAuthorization(ctx, tx, `where authorization_id = $1`, chi.URLParam(r, "authorization_id"))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, errAuthorizationNotFound
	case err != nil:
		return nil, err
	case a.Status != "pending":
		return nil, wire.Errorf(http.StatusBadRequest, "validation_failed", "authorization request cannot be processed")
	case e.now().After(a.ExpiresAt):
		if _, err := tx.Exec(ctx, `update auth.oauth_authorizations set status = 'expired' where id = $1`, a.ID); err != nil {
			return nil, err
		}
		return nil, store.AfterCommit(errAuthorizationNotFound)
	case a.UserID != nil && *a.UserID != u.ID:
		return nil, errAuthorizationNotFound
	}
	return a, nil
}

// oauthDetails answers GET /oauth/authorizations/{id}: what the consent page shows, or where to go at once when the person
// has agreed to as much before.
func (e *Engine) oauthDetails(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	ctx := r.Context()
	out, err := store.InTx(ctx, e.db, func(tx pgx.Tx) (any, error) {
		a, err := e.authorizationOf(r, tx, c.User)
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
			if _, err := tx.Exec(ctx, `update auth.oauth_authorizations set user_id = $2 where id = $1`, a.ID, c.User.ID); err != nil {
				return nil, err
			}
			agreed, err := consentedScopes(ctx, tx, c.User.ID, a.ClientID)
			if err != nil {
				return nil, err
			}
			if protocol.Covers(agreed, protocol.Scopes(a.Scope)) {
				return e.approve(ctx, tx, a)
			}
		}
		return authorizationDetails{a.Name, a.RedirectURI, detailsOf(client), userDetails{c.User.ID, c.User.Email}, a.Scope}, nil
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, out)
}

// oauthConsent answers POST …/consent: the person agrees, or does not.
func (e *Engine) oauthConsent(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	var p struct {
		Action string `json:"action"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Action != "approve" && p.Action != "deny" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "action must be 'approve' or 'deny'")
	}
	ctx := r.Context()
	out, err := store.InTx(ctx, e.db, func(tx pgx.Tx) (redirectReply, error) {
		var none redirectReply
		a, err := e.authorizationOf(r, tx, c.User)
		if err != nil {
			return none, err
		}
		if a.UserID == nil { // nobody has been shown what it is about
			return none, errAuthorizationNotFound
		}
		if p.Action == "deny" {
			_, err := tx.Exec(ctx, `update auth.oauth_authorizations set status = 'denied' where id = $1`, a.ID)
			return redirectReply{back(a.RedirectURI, "error", "access_denied", "error_description", "User denied the request", "state", a.State)}, err
		}
		if _, err := tx.Exec(ctx, `
			insert into auth.oauth_consents (id, user_id, client_id, scopes, granted_at) values ($1, $2, $3, $4, $5)
			on conflict on constraint oauth_consents_user_client_unique
			do update set scopes = excluded.scopes, granted_at = excluded.granted_at, revoked_at = null`,
			uuid.New(), c.User.ID, a.ClientID, strings.Join(protocol.Scopes(a.Scope), " "), e.now()); err != nil {
			return none, err
		}
		return e.approve(ctx, tx, a)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, out)
}

// approve gives an authorization its code and says where it leads.
func (e *Engine) approve(ctx context.Context, tx pgx.Tx, a *authorization) (redirectReply, error) {
	code := newSecretName()
	_, err := tx.Exec(ctx, `update auth.oauth_authorizations set status = 'approved', approved_at = $2, authorization_code = $3 where id = $1`,
		a.ID, e.now(), hashOfCode(code))
	return redirectReply{back(a.RedirectURI, "code", code, "state", a.State)}, err
}

// fromSite refuses browsers that are on another site than those where people may be sent: the consent page is ours.
func (e *Engine) fromSite(h endpoint.Handler) endpoint.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if origin := r.Header.Get("Origin"); origin != "" && !e.redirects.Allows(origin) {
			return wire.Errorf(http.StatusBadRequest, "validation_failed", "unauthorized request origin")
		}
		return h(w, r)
	}
}

// newSecretName makes a name that nobody guesses: 256 bits.
func newSecretName() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// hashOfCode is how the code of an authorization is stored.
func hashOfCode(code string) string {
	sum := sha256.Sum256([]byte(code))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// back adds parameters to a URL that was checked before; empty ones are left out.
func back(target string, params ...string) string {
	u, err := url.Parse(target)
	if err != nil {
		return target
	}
	q := u.Query()
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] != "" {
			q.Set(params[i], params[i+1])
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

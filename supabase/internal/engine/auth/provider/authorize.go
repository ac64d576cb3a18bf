package provider

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

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/provider/protocol"
	"daawo/supabase/internal/engine/auth/store"
)

// authorization is a row of auth.oauth_authorizations. It is pending until the user decides, then
// approved (with a code) or denied; or it is expired.
type authorization struct {
	ID          uuid.UUID  `db:"id"`
	Name        string     `db:"authorization_id"` // its name in the URL of the consent page
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

var errAuthorizationNotFound = apierror.Errorf(http.StatusNotFound, "oauth_authorization_not_found",
	"authorization not found")

// findAuthorization returns an authorization and locks it, so that only one of two concurrent
// requests uses it.
func findAuthorization(ctx context.Context, tx pgx.Tx, where string, args ...any) (*authorization, error) {
	rows, err := tx.Query(ctx, `
		select id, authorization_id, client_id, user_id, redirect_uri, scope, coalesce(state, '') state,
			coalesce(resource, '') resource,
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

// authorizationOfCode returns the approved authorization of a code and its user. It locks first the
// user, then the authorization, in the order of all other transactions.
func authorizationOfCode(ctx context.Context, tx pgx.Tx, hash string) (*authorization, *store.User, error) {
	u := &store.User{}
	err := tx.QueryRow(ctx, `select user_id from auth.oauth_authorizations
		where authorization_code = $1 and status = 'approved' and user_id is not null`, hash).Scan(&u.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, store.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	if err := store.ReloadUser(ctx, tx, u); err != nil {
		return nil, nil, err
	}
	a, err := findAuthorization(ctx, tx, `where authorization_code = $1 and status = 'approved'`, hash)
	return a, u, err
}

// Authorize serves GET /oauth/authorize: it stores the request and sends the user to the site's
// consent page. For an unknown application or redirect URI it does not redirect. The redirect URI
// must be exactly a registered one.
func (s *Server) Authorize(w http.ResponseWriter, r *http.Request) error {
	ctx, p := r.Context(), protocol.Read(r.URL.Query())
	if p.ClientID == "" || p.RedirectURI == "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "client_id and redirect_uri are required")
	}
	unknown := apierror.Errorf(http.StatusBadRequest, "oauth_client_not_found", "invalid client_id")
	id, err := uuid.Parse(p.ClientID)
	if err != nil {
		return unknown
	}
	c, err := clientByID(ctx, s.DB.Pgx(), id, "")
	if errors.Is(err, store.ErrNotFound) {
		return unknown
	}
	if err != nil {
		return err
	}
	if !slices.Contains(c.RedirectURIs, p.RedirectURI) {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "invalid redirect_uri")
	}
	p.Scope = cmp.Or(p.Scope, s.Config.DefaultScope)
	err = p.Check()
	if err == nil && slices.Contains(protocol.Scopes(p.Scope), protocol.ScopeOpenID) && !s.signsIDTokens() {
		err = errors.New("scope openid requires an asymmetric signing key")
	}
	if err != nil {
		http.Redirect(w, r, back(p.RedirectURI, "error", "invalid_request", "error_description", err.Error(), "state",
			p.State), http.StatusFound)
		return nil
	}
	if s.Config.ConsentPath == "" {
		http.Redirect(w, r, back(p.RedirectURI, "error", "server_error", "error_description",
			"oauth authorization path not configured", "state", p.State), http.StatusFound)
		return nil
	}
	name, now := newSecretName(), s.Now()
	_, err = store.InTx(ctx, s.DB, func(tx pgx.Tx) (any, error) {
		_, err := tx.Exec(ctx, `
			insert into auth.oauth_authorizations (
			  id, authorization_id, client_id, redirect_uri, scope, state, resource, nonce, code_challenge,
			  code_challenge_method, response_type, status, created_at, expires_at)
			values ($1, $2, $3, $4, $5, nullif($6, ''), nullif($7, ''), nullif($8, ''), $9, 's256', 'code', 'pending',
				$10, $11)`,
			uuid.New(), name, c.ID, p.RedirectURI, p.Scope, p.State, p.Resource, p.Nonce, p.Challenge, now,
			now.Add(s.Config.Life))
		return nil, err
	})
	if err != nil {
		return err
	}
	page := strings.TrimRight(s.SiteURL, "/") + "/" + strings.TrimLeft(s.Config.ConsentPath, "/")
	http.Redirect(w, r, back(page, "authorization_id", name), http.StatusFound)
	return nil
}

// newSecretName returns a random name of 256 bits.
func newSecretName() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// hashCode returns the stored form of an authorization code.
func hashCode(code string) string {
	sum := sha256.Sum256([]byte(code))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// back returns target, a checked URL, with parameters; empty ones are left out.
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

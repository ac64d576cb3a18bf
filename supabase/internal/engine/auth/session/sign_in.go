package session

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// ErrBanned is the reply to a banned user who signs in.
var ErrBanned = apierror.Errorf(http.StatusBadRequest, "user_banned", "User is banned")

// SignIn begins a session for a user who has authenticated by the method, and issues its tokens.
func (m *Manager) SignIn(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string) (*TokenReply,
	error) {
	return m.Begin(r, tx, headers, u, method, store.Application{}, nil)
}

// Begin is SignIn for a session that application a may hold, and that ends at end, if that is not
// nil.
func (m *Manager) Begin(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string,
	a store.Application, end *time.Time) (*TokenReply, error) {
	ctx, now := r.Context(), m.Now()
	session, err := store.InsertSession(ctx, tx, u.ID, a, endpoint.ClientOf(r), now, end)
	if err != nil {
		return nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	headers.Set("sb-auth-session-id", session.String())
	var token string
	if m.Config.SignedRefreshTokens {
		if token, err = newSignedToken(ctx, tx, session); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-counter", strconv.Itoa(0))
	} else {
		if token, err = storeLegacyToken(ctx, tx, u, session, now); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-prefix", token[:5])
	}
	if a.ClientID == nil { // a grant to an application is not a new authentication
		u.LastSignInAt = &now
		if err := store.SetColumn(ctx, tx, u, "last_sign_in_at", now, now); err != nil {
			return nil, err
		}
	}
	if err := store.AddMethod(ctx, tx, session, method, now); err != nil {
		return nil, err
	}
	return m.NewTokenReply(r, tx, u, session, token, method)
}

// NextToken returns the session's next refresh token and deletes the earlier ones, so that a copied
// aal1 token never becomes an aal2 token. The caller has locked the session.
func (m *Manager) NextToken(ctx context.Context, tx pgx.Tx, u *store.User, session uuid.UUID) (string, error) {
	s, err := store.FindSession(ctx, tx, session)
	if err != nil {
		return "", err
	}
	if s.HMACKey != nil && s.TokenCounter != nil {
		return newSignedToken(ctx, tx, session)
	}
	var active int
	if err := tx.QueryRow(ctx, `
		with gone as (delete from auth.refresh_tokens where session_id = $1 returning revoked)
		select count(*) from gone where revoked is not true`, session).Scan(&active); err != nil {
		return "", err
	}
	if active == 0 { // its family was revoked, but the access token has not expired
		return "", ErrSessionGone
	}
	if err := m.Store.Audit(ctx, tx, u, "token_revoked", nil); err != nil {
		return "", err
	}
	return storeLegacyToken(ctx, tx, u, session, m.Now())
}

package session

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// NextToken makes the session's next refresh token. Those before are gone, also as a retry: an aal1 token that somebody
// copied never becomes an aal2 one. The session is held.
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
	if active == 0 { // its family was revoked, and the access token still lives
		return "", ErrSessionGone
	}
	if err := m.store.Audit(ctx, tx, u, "token_revoked", nil); err != nil {
		return "", err
	}
	return storeLegacyToken(ctx, tx, u, session, "", m.now())
}

// SignIn begins a session for a user who has proved who they are, by method, and answers with its tokens.
func (m *Manager) SignIn(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string) (*TokenReply, error) {
	return m.Begin(r, tx, headers, u, method, store.Application{})
}

// Begin is signIn for whoever is to hold the session.
func (m *Manager) Begin(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string, a store.Application) (*TokenReply, error) {
	ctx, now := r.Context(), m.now()
	session, err := store.InsertSession(ctx, tx, u.ID, a, endpoint.ClientOf(r), now)
	if err != nil {
		return nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	headers.Set("sb-auth-session-id", session.String())
	var token string
	if m.config.SignedRefreshTokens {
		if token, err = newSignedToken(ctx, tx, session); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-counter", strconv.Itoa(0))
	} else {
		if token, err = storeLegacyToken(ctx, tx, u, session, "", now); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-prefix", token[:5])
	}
	if a.ClientID == nil { // who lets an application in has not proved anything anew
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

// ErrBanned is the reply to a banned user who signs in.
var ErrBanned = wire.Errorf(http.StatusBadRequest, "user_banned", "User is banned")

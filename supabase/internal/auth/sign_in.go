package auth

import (
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/store"
)

// signIn begins a session for a user who has proved who they are, by method, and answers with its tokens.
func (e *Engine) signIn(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string) (*tokenReply, error) {
	return e.beginSession(r, tx, headers, u, method, store.Application{})
}

// beginSession is signIn for whoever is to hold the session.
func (e *Engine) beginSession(r *http.Request, tx pgx.Tx, headers http.Header, u *store.User, method string, a store.Application) (*tokenReply, error) {
	ctx, now := r.Context(), e.now()
	session, err := store.InsertSession(ctx, tx, u.ID, a, endpoint.ClientOf(r), now)
	if err != nil {
		return nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	headers.Set("sb-auth-session-id", session.String())
	var token string
	if e.config.SignedRefreshTokens {
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
	return e.newTokenReply(r, tx, u, session, token, method)
}

package auth

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// signIn begins a session for a user who has proved who they are, by method, and answers with its tokens.
func (e *Engine) signIn(r *http.Request, tx pgx.Tx, headers http.Header, u *User, method string) (*tokenReply, error) {
	return e.beginSession(r, tx, headers, u, method, application{})
}

// beginSession is signIn for whoever is to hold the session.
func (e *Engine) beginSession(r *http.Request, tx pgx.Tx, headers http.Header, u *User, method string, a application) (*tokenReply, error) {
	ctx, now := r.Context(), e.now()
	session, err := insertSession(ctx, tx, u.ID, a, e.clientOf(r), now)
	if err != nil {
		return nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	headers.Set("sb-auth-session-id", session.String())
	var token string
	if e.config.SignedRefreshTokens {
		key := newTokenKey()
		if _, err := tx.Exec(ctx, `update auth.sessions set refresh_token_hmac_key = $2, refresh_token_counter = 0 where id = $1`,
			session, base64.RawURLEncoding.EncodeToString(key)); err != nil {
			return nil, err
		}
		token = signedToken{Session: session}.encode(key)
		headers.Set("sb-auth-refresh-token-counter", strconv.Itoa(0))
	} else {
		token = newLegacyToken()
		if _, err := tx.Exec(ctx, `
			insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
			values ('00000000-0000-0000-0000-000000000000', $1, $2, false, $3, $3, $4)`,
			token, u.ID.String(), now, session); err != nil {
			return nil, err
		}
		headers.Set("sb-auth-refresh-token-prefix", token[:5])
	}
	u.LastSignInAt = &now
	if err := setColumn(ctx, tx, u, "last_sign_in_at", now, now); err != nil {
		return nil, err
	}
	if err := addMethod(ctx, tx, session, method, now); err != nil {
		return nil, err
	}
	return e.newTokenReply(r, tx, u, session, token, method)
}

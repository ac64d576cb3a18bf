package auth

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"
)

// signIn begins a session for a user who has proved who they are, by method, and answers with its tokens.
func (e *Engine) signIn(ctx context.Context, tx pgx.Tx, headers http.Header, u *User, method string, c client) (*tokenReply, error) {
	now := e.now()
	session, err := insertSession(ctx, tx, u.ID, c, now)
	if err != nil {
		return nil, err
	}
	token := newLegacyToken()
	if _, err := tx.Exec(ctx, `
		insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
		values ('00000000-0000-0000-0000-000000000000', $1, $2, false, $3, $3, $4)`,
		token, u.ID.String(), now, session); err != nil {
		return nil, err
	}
	if e.config.SinglePerUser {
		if err := logoutOthers(ctx, tx, u.ID, session); err != nil {
			return nil, err
		}
	}
	u.LastSignInAt = &now
	if err := setColumn(ctx, tx, u, "last_sign_in_at", now, now); err != nil {
		return nil, err
	}
	if err := addMethod(ctx, tx, session, method, now); err != nil {
		return nil, err
	}
	headers.Set("sb-auth-user-id", u.ID.String())
	headers.Set("sb-auth-session-id", session.String())
	headers.Set("sb-auth-refresh-token-prefix", token[:5])
	return e.newTokenReply(ctx, tx, u, session, token)
}

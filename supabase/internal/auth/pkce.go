package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// issueCode ends a user's flow of a method with its code.
func (e *Engine) issueCode(ctx context.Context, tx pgx.Tx, u *store.User, method string) (string, error) {
	f, err := store.FindFlow(ctx, tx, `where user_id = $1 and authentication_method = $2 order by created_at desc limit 1`, u.ID, method)
	if errors.Is(err, store.ErrNotFound) || err == nil && !f.PKCE() {
		return "", wire.Errorf(http.StatusBadRequest, "flow_state_not_found", "No associated flow state found. No valid flow state found for user.")
	}
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `update auth.flow_state set auth_code_issued_at = $2, updated_at = $2 where id = $1`, f.ID, e.now())
	return f.AuthCode, err
}

package auth

import (
	"cmp"
	"net/http"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/hookpoint"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// passwordVerdict asks a hook whether a password attempt may go on.
func (e *Engine) passwordVerdict(r *http.Request, u *store.User, valid bool) error {
	h := e.hooks.PasswordVerificationAttempt
	if !h.Enabled() {
		return nil
	}
	var v hookpoint.Verdict
	if err := e.hooks.Call(r, nil, h, "password-verification", map[string]any{"user_id": u.ID, "valid": valid}, &v); err != nil {
		return err
	}
	if !v.Rejected() {
		return nil
	}
	v.Message = cmp.Or(v.Message, "Further password verification attempts will be rejected.")
	if v.Logout {
		if err := e.endSessions(r, u); err != nil {
			return err
		}
	}
	return wire.Errorf(http.StatusBadRequest, "invalid_credentials", "%s", v.Message)
}

func (e *Engine) endSessions(r *http.Request, u *store.User) error {
	_, err := store.InTx(r.Context(), e.db, func(tx pgx.Tx) (any, error) { return nil, store.EndSessions(r.Context(), tx, u.ID) })
	return err
}

package auth

import (
	"cmp"
	"errors"
	"net/http"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// sendPhoneCode sends a code to sign in. Somebody new, or who never confirmed, signs up instead.
func (e *Engine) sendPhoneCode(w http.ResponseWriter, r *http.Request, p signupParams, create bool) error {
	if !e.config.EnablePhone {
		return wire.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Unsupported phone provider")
	}
	ctx := r.Context()
	var err error
	if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
		return err
	}
	if err := e.sender.CheckChannel(p.Channel); err != nil {
		return err
	}
	p.Channel = cmp.Or(p.Channel, "sms")
	u, err := store.UserByPhone(ctx, e.db.Pgx(), p.Phone, e.sessions.Audience(r, nil))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if u == nil && !create {
		return errNoSignupByCode
	}
	// Where nobody has to confirm, the code is what opens an account that somebody else may have made.
	if u == nil || !u.PhoneConfirmed() && !e.config.PhoneAutoconfirm {
		p.Password = e.passwords.Random()
		if _, err := e.signUp(r, http.Header{}, p, true); err != nil {
			return err
		}
		if !e.config.PhoneAutoconfirm {
			return endpoint.SendJSON(w, http.StatusOK, struct{}{})
		}
		if u, err = store.UserByPhone(ctx, e.db.Pgx(), p.Phone, e.sessions.Audience(r, nil)); err != nil {
			return err
		}
	}
	id, err := message.Queued(ctx, e.sender, e.sender.TextQueue(), func(tx message.Tx) (string, error) {
		if err := e.store.Audit(ctx, tx, u, "user_recovery_requested", map[string]any{"channel": p.Channel}); err != nil {
			return "", err
		}
		return e.sender.SendPhoneCode(r, tx, u, store.Confirmation, p.Phone, p.Channel)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, messageReply{id})
}

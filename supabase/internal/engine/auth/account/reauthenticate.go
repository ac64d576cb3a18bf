package account

import (
	"context"
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/session"
	"daawo/supabase/internal/engine/auth/store"
)

// Reauthenticate serves GET /reauthenticate: it sends a code that allows a password change in an
// old session.
func (s *Service) Reauthenticate(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	u, ctx := c.User, r.Context()
	switch {
	case u.Email == "" && u.Phone == "":
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Reauthentication requires the user to have an email or a phone number")
	case u.Email != "" && !u.Confirmed():
		return apierror.Errorf(http.StatusUnprocessableEntity, "email_not_confirmed", "Please verify your email first.")
	case u.Email == "" && !u.PhoneConfirmed():
		return apierror.Errorf(http.StatusUnprocessableEntity, "phone_not_confirmed", "Please verify your phone first.")
	}
	queue := s.Sender.MailQueue()
	if u.Email == "" {
		queue = s.Sender.TextQueue()
	}
	id, err := message.Queued(ctx, s.Sender, queue, func(tx message.Tx) (string, error) {
		if err := s.Store.Audit(ctx, tx, u, "user_reauthenticate_requested", nil); err != nil {
			return "", err
		}
		if u.Email != "" {
			return "", s.Sender.SendLink(r, tx, u, store.Reauthentication, template.Reauthentication,
				"reauthentication", false)
		}
		return s.Sender.SendPhoneCode(r, tx, u, store.Reauthentication, u.Phone, "sms")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, message.Reply{ID: id})
}

// checkNonce checks the code that Reauthenticate sent.
func (s *Service) checkNonce(ctx context.Context, u *store.User, nonce string) error {
	contact, life := u.Email, s.Sender.LinkExpiry()
	if contact == "" {
		contact, life = u.Phone, s.Config.SMSCodeExpiry
	}
	if contact == "" {
		return apierror.Errorf(http.StatusUnprocessableEntity, "reauthentication_not_valid",
			"Reauthentication requires an email or a phone number")
	}
	if u.Email == "" && s.Sender.ChecksCodes() && u.ReauthenticationToken != "" {
		valid, err := s.Sender.CheckCode(ctx, contact, nonce)
		if err == nil && !valid {
			err = apierror.Errorf(http.StatusForbidden, "otp_expired", "Token has expired or is invalid")
		}
		return err
	}
	if !store.Reauthentication.Matches(u, store.HashCode(contact, nonce), life, s.Now()) {
		return apierror.Errorf(http.StatusUnprocessableEntity, "reauthentication_not_valid",
			"Nonce has expired or is invalid")
	}
	return nil
}

package login

import (
	"errors"
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/store"
)

// Resend serves POST /resend: it sends a link or code again that has not been used yet.
func (s *Service) Resend(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		linkParams
		Phone string `json:"phone"`
		Type  string `json:"type"`
	}
	if err := endpoint.ReadJSON(r, &body); err != nil {
		return err
	}
	p := body.signup()
	p.Phone = body.Phone
	if err := s.checkResend(body.Type, &p); err != nil {
		return err
	}
	if p.Email != "" {
		return s.mailAlike(w, r, p.Email, func() error {
			u, err := store.HolderOfEmail(r.Context(), s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil))
			if errors.Is(err, store.ErrNotFound) || err == nil && !pending(u, body.Type) {
				u, err = s.decoy(r, p), nil
				u.EmailChange = p.Email
			}
			if err == nil {
				_, err = s.resendTo(r, u, body.Type, p)
			}
			return err
		})
	}
	u, err := store.HolderOfPhone(r.Context(), s.DB.Pgx(), p.Phone, s.Sessions.Audience(r, nil))
	var id string
	if err == nil {
		id, err = s.resendTo(r, u, body.Type, p)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, message.Reply{ID: id})
}

// resendTo sends the message if u still needs it, and returns the provider's id of it.
func (s *Service) resendTo(r *http.Request, u *store.User, kind string, p signupParams) (string, error) {
	if !pending(u, kind) {
		return "", nil
	}
	queue := s.Sender.MailQueue()
	if kind == "sms" || kind == "phone_change" {
		queue = s.Sender.TextQueue()
	}
	return message.Queued(r.Context(), s.Sender, queue, func(tx message.Tx) (string, error) {
		return s.resend(r, tx, u, kind, p)
	})
}

// pending reports whether u still has to follow a link or enter a code of the kind.
func pending(u *store.User, kind string) bool {
	switch kind {
	case "signup":
		return !u.Confirmed()
	case "sms":
		return !u.PhoneConfirmed()
	case "email_change":
		return u.EmailChange != ""
	}
	return u.PhoneChange != ""
}

// resend sends a message and returns the provider's id of it.
func (s *Service) resend(r *http.Request, tx message.Tx, u *store.User, kind string, p signupParams) (string, error) {
	ctx := r.Context()
	if method := map[string]string{"signup": "email/signup", "email_change": "email_change"}[kind]; p.pkce() &&
		method != "" {
		if err := s.Store.NewFlow(ctx, tx, p.flow(method, u)); err != nil {
			return "", err
		}
	}
	switch kind {
	case "signup":
		if err := s.Store.Audit(ctx, tx, u, "user_confirmation_requested", nil); err != nil {
			return "", err
		}
		return "", s.Sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", p.pkce())
	case "email_change":
		return "", s.Sender.SendEmailChange(r, tx, u, u.EmailChange, p.pkce())
	case "sms":
		if err := s.Store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
			return "", err
		}
		return s.Sender.SendPhoneCode(r, tx, u, store.Confirmation, u.Phone, "sms")
	}
	return s.Sender.SendPhoneCode(r, tx, u, store.PhoneChange, u.PhoneChange, "sms")
}

// checkResend validates the request and brings the contact into its stored form.
func (s *Service) checkResend(kind string, p *signupParams) error {
	bad := func(text string) error {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "%s", text)
	}
	switch kind {
	case "signup", "email_change":
		if err := p.checkPKCE(); err != nil {
			return err
		}
	case "sms", "phone_change":
	default:
		return bad("Missing one of these types: signup, email_change, sms, phone_change")
	}
	var err error
	switch {
	case p.Email == "" && kind == "signup":
		return bad("Type provided requires an email address")
	case p.Phone == "" && kind == "sms":
		return bad("Type provided requires a phone number")
	case p.Email != "" && p.Phone != "":
		return bad("Only an email address or phone number should be provided.")
	case p.Email != "":
		if s.Config.DisableEmail {
			return apierror.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email logins are disabled")
		}
		p.Email, err = endpoint.ValidEmail(p.Email)
		return err
	case p.Phone != "":
		if !s.Config.EnablePhone {
			return apierror.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Phone logins are disabled")
		}
		p.Phone, err = endpoint.ValidPhone(p.Phone)
		return err
	}
	return bad("Missing email address or phone number")
}

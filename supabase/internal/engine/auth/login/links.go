package login

import (
	"cmp"
	"errors"
	"net/http"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/message"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/store"
)

// OTP serves POST /otp: it sends a link and a code to an address, or a code to a number. It makes
// the account if create_user allows it.
func (s *Service) OTP(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		linkParams
		Phone      string         `json:"phone"`
		Data       map[string]any `json:"data"`
		Channel    string         `json:"channel"`
		CreateUser bool           `json:"create_user"`
	}{CreateUser: true}
	if err := endpoint.ReadJSON(r, &body); err != nil {
		return err
	}
	p := body.signup()
	p.Phone, p.Data, p.Channel = body.Phone, body.Data, body.Channel
	if p.Email != "" && p.Phone != "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Only an email address or phone number should be provided")
	}
	if p.Email != "" && p.Channel != "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed",
			"Channel should only be specified with Phone OTP")
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	switch {
	case p.Email != "":
		return s.sendMagicLink(w, r, p, body.CreateUser)
	case p.Phone != "":
		return s.sendPhoneCode(w, r, p, body.CreateUser)
	}
	return apierror.Errorf(http.StatusBadRequest, "validation_failed", "One of email or phone must be set")
}

// MagicLink serves POST /magiclink, the older form of POST /otp.
func (s *Service) MagicLink(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		linkParams
		Data map[string]any `json:"data"`
	}
	if err := endpoint.ReadJSON(r, &body); err != nil {
		return err
	}
	p := body.signup()
	p.Data = body.Data
	if p.Email == "" {
		return apierror.Errorf(http.StatusUnprocessableEntity, "validation_failed",
			"Password recovery requires an email")
	}
	var err error
	if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
		return err
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	return s.sendMagicLink(w, r, p, true)
}

var errNoSignupByCode = apierror.Errorf(http.StatusUnprocessableEntity, "otp_disabled", "Signups not allowed for otp")

// sendMagicLink mails a link to sign in. For an unknown or unconfirmed address it signs up instead,
// if create allows it.
func (s *Service) sendMagicLink(w http.ResponseWriter, r *http.Request, p signupParams, create bool) error {
	if s.Config.DisableEmail {
		return apierror.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled", "Email logins are disabled")
	}
	if s.Config.DisableMagicLink {
		return apierror.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled",
			"Login with magic link is disabled")
	}
	var err error
	if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
		return err
	}
	return s.mailAlike(w, r, p.Email, func() error { return s.mailMagicLink(r, p, create) })
}

// mailMagicLink implements sendMagicLink for a valid address.
func (s *Service) mailMagicLink(r *http.Request, p signupParams, create bool) error {
	ctx := r.Context()
	u, err := store.UserByEmail(ctx, s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	// Without confirmations, the link is the only way into an account that another person may have
	// made.
	signup := u == nil || !u.Confirmed() && !s.Config.MailerAutoconfirm
	var refusal error
	switch {
	case u == nil && !create:
		refusal = errNoSignupByCode
	case signup && s.Config.DisableSignup:
		refusal = errSignupDisabled
	case signup:
		if _, err := s.signUp(r, http.Header{}, p, true); err != nil {
			return err
		}
		if !s.Config.MailerAutoconfirm {
			return nil // the confirmation mail is the magic link
		}
		if u, err = store.UserByEmail(ctx, s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil)); err != nil {
			return err
		}
	}
	if refusal != nil {
		if !s.Config.HideAccounts {
			return refusal
		}
		u = s.decoy(r, p)
	}
	var more func(message.Tx) error
	if !s.Config.MailerAutoconfirm && !s.Config.DisableSignup {
		more = func(tx message.Tx) error { return s.rehearseSignup(r, tx, p) }
		if _, err := s.checkSignup(r, &p, true); err != nil {
			return err
		}
	}
	if err := s.sendRecovery(r, u, p, template.MagicLink, "magiclink", more); err != nil {
		return err
	}
	return refusal
}

// rehearseSignup sends the statements of a new account, which store nothing.
func (s *Service) rehearseSignup(r *http.Request, tx message.Tx, p signupParams) error {
	if err := s.rereadNone(r.Context(), tx); err != nil {
		return err
	}
	return s.storeSignup(r.Context(), tx, s.decoy(r, p), p)
}

// sendPhoneCode sends a code to sign in. For an unknown or unconfirmed number it signs up instead,
// if create allows it.
func (s *Service) sendPhoneCode(w http.ResponseWriter, r *http.Request, p signupParams, create bool) error {
	if !s.Config.EnablePhone {
		return apierror.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Unsupported phone provider")
	}
	ctx := r.Context()
	p.Challenge, p.ChallengeMethod = "", "" // a text has no link that would end with a code
	var err error
	if p.Phone, err = endpoint.ValidPhone(p.Phone); err != nil {
		return err
	}
	u, err := store.UserByPhone(ctx, s.DB.Pgx(), p.Phone, s.Sessions.Audience(r, nil))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if u == nil && !create {
		return errNoSignupByCode
	}
	if err := s.Sender.CheckChannel(p.Channel); err != nil {
		return err
	}
	p.Channel = cmp.Or(p.Channel, "sms")
	// Without confirmations, the code is the only way into an account that another person may have
	// made.
	if u == nil || !u.PhoneConfirmed() && !s.Config.PhoneAutoconfirm {
		if _, err := s.signUp(r, http.Header{}, p, true); err != nil {
			return err
		}
		if !s.Config.PhoneAutoconfirm {
			return endpoint.SendJSON(w, http.StatusOK, struct{}{})
		}
		if u, err = store.UserByPhone(ctx, s.DB.Pgx(), p.Phone, s.Sessions.Audience(r, nil)); err != nil {
			return err
		}
	}
	id, err := message.Queued(ctx, s.Sender, s.Sender.TextQueue(), func(tx message.Tx) (string, error) {
		if err := s.Store.Audit(ctx, tx, u, "user_recovery_requested",
			map[string]any{"channel": p.Channel}); err != nil {
			return "", err
		}
		return s.Sender.SendPhoneCode(r, tx, u, store.Confirmation, p.Phone, p.Channel)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, message.Reply{ID: id})
}

// Recover serves POST /recover. An unknown address gets the same reply as a known one, after the
// same work.
func (s *Service) Recover(w http.ResponseWriter, r *http.Request) error {
	if s.Config.DisableEmail {
		return apierror.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email logins are disabled")
	}
	var body linkParams
	if err := endpoint.ReadJSON(r, &body); err != nil {
		return err
	}
	p := body.signup()
	if p.Email == "" {
		return apierror.Errorf(http.StatusBadRequest, "validation_failed", "Password recovery requires an email")
	}
	var err error
	if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
		return err
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	return s.mailAlike(w, r, p.Email, func() error {
		u, err := store.UserByEmail(r.Context(), s.DB.Pgx(), p.Email, s.Sessions.Audience(r, nil))
		if errors.Is(err, store.ErrNotFound) {
			u, err = s.decoy(r, p), nil
		}
		if err != nil {
			return err
		}
		return s.sendRecovery(r, u, p, template.Recovery, "recovery", nil)
	})
}

// sendRecovery mails a link that signs u in. action is the type of the link and the method of its
// flow. more, if not nil, runs first in the transaction.
func (s *Service) sendRecovery(r *http.Request, u *store.User, p signupParams, kind, action string,
	more func(message.Tx) error) error {
	ctx := r.Context()
	_, err := message.Queued(ctx, s.Sender, s.Sender.MailQueue(), func(tx message.Tx) (any, error) {
		if more != nil {
			if err := more(tx); err != nil {
				return nil, err
			}
		}
		if p.pkce() {
			if err := s.Store.NewFlow(ctx, tx, p.flow(action, u)); err != nil {
				return nil, err
			}
		}
		if err := s.Store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
			return nil, err
		}
		return nil, s.Sender.SendLink(r, tx, u, store.Recovery, kind, action, p.pkce())
	})
	return err
}

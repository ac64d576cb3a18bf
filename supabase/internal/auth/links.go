package auth

import (
	"errors"
	"net/http"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/message"
	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/session"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// otp answers POST /otp: sends a link and a code to an address, or a code to a number, and makes the account where
// create_user lets it.
func (e *Engine) otp(w http.ResponseWriter, r *http.Request) error {
	p := struct {
		signupParams
		CreateUser bool `json:"create_user"`
	}{CreateUser: true}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Email != "" && p.Phone != "" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Only an email address or phone number should be provided")
	}
	if p.Email != "" && p.Channel != "" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Channel should only be specified with Phone OTP")
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	p.Password = ""
	switch {
	case p.Email != "":
		return e.sendMagicLink(w, r, p.signupParams, p.CreateUser)
	case p.Phone != "":
		return e.sendPhoneCode(w, r, p.signupParams, p.CreateUser)
	}
	return wire.Errorf(http.StatusBadRequest, "validation_failed", "One of email or phone must be set")
}

// magiclink answers POST /magiclink, the older form of POST /otp.
func (e *Engine) magiclink(w http.ResponseWriter, r *http.Request) error {
	var p signupParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Email == "" {
		return wire.Errorf(http.StatusUnprocessableEntity, "validation_failed", "Password recovery requires an email")
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	p.Password = ""
	return e.sendMagicLink(w, r, p, true)
}

var errNoSignupByCode = wire.Errorf(http.StatusUnprocessableEntity, "otp_disabled", "Signups not allowed for otp")

// sendMagicLink mails a link to sign in. Somebody new, or who never confirmed, signs up instead.
func (e *Engine) sendMagicLink(w http.ResponseWriter, r *http.Request, p signupParams, create bool) error {
	if e.config.DisableEmail {
		return wire.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled", "Email logins are disabled")
	}
	if e.config.DisableMagicLink {
		return wire.Errorf(http.StatusUnprocessableEntity, "email_provider_disabled", "Login with magic link is disabled")
	}
	ctx := r.Context()
	var err error
	if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
		return err
	}
	u, err := store.UserByEmail(ctx, e.db.Pgx(), p.Email, e.sessions.Audience(r, nil))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if u == nil && !create {
		return errNoSignupByCode
	}
	// Where nobody has to confirm, the link is what opens an account that somebody else may have made.
	if u == nil || !u.Confirmed() && !e.config.MailerAutoconfirm {
		p.Password = e.passwords.Random()
		if _, err := e.signUp(r, http.Header{}, p, true); err != nil {
			return err
		}
		if !e.config.MailerAutoconfirm {
			return endpoint.SendJSON(w, http.StatusOK, struct{}{}) // the confirmation mail is the magic link
		}
		if u, err = store.UserByEmail(ctx, e.db.Pgx(), p.Email, e.sessions.Audience(r, nil)); err != nil {
			return err
		}
	}
	_, err = message.Queued(ctx, e.sender, e.sender.MailQueue(), func(tx message.Tx) (any, error) {
		if p.pkce() {
			if err := e.store.NewFlow(ctx, tx, store.Flow{Provider: "magiclink", Method: "magiclink", Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod, UserID: &u.ID}); err != nil {
				return nil, err
			}
		}
		if err := e.store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
			return nil, err
		}
		return nil, e.sender.SendLink(r, tx, u, store.Recovery, template.MagicLink, "magiclink", p.pkce())
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}

// recover answers POST /recover. An unknown address gets the same answer as a known one, though sooner: nothing is written
// and mailed for it.
func (e *Engine) recover(w http.ResponseWriter, r *http.Request) error {
	if e.config.DisableEmail {
		return wire.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email logins are disabled")
	}
	var p signupParams
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if p.Email == "" {
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Password recovery requires an email")
	}
	ctx := r.Context()
	var err error
	if p.Email, err = endpoint.ValidEmail(p.Email); err != nil {
		return err
	}
	if err := p.checkPKCE(); err != nil {
		return err
	}
	u, err := store.UserByEmail(ctx, e.db.Pgx(), p.Email, e.sessions.Audience(r, nil))
	if errors.Is(err, store.ErrNotFound) {
		return endpoint.SendJSON(w, http.StatusOK, struct{}{})
	}
	if err != nil {
		return err
	}
	_, err = message.Queued(ctx, e.sender, e.sender.MailQueue(), func(tx message.Tx) (any, error) {
		if p.pkce() {
			if err := e.store.NewFlow(ctx, tx, store.Flow{Provider: "recovery", Method: "recovery", Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod, UserID: &u.ID}); err != nil {
				return nil, err
			}
		}
		if err := e.store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
			return nil, err
		}
		return nil, e.sender.SendLink(r, tx, u, store.Recovery, template.Recovery, "recovery", p.pkce())
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, struct{}{})
}

// resend answers POST /resend: sends again what was sent before and is still waited for.
func (e *Engine) resend(w http.ResponseWriter, r *http.Request) error {
	var p struct {
		signupParams
		Type string `json:"type"`
	}
	if err := endpoint.ReadJSON(r, &p); err != nil {
		return err
	}
	if err := e.checkResend(p.Type, &p.signupParams); err != nil {
		return err
	}
	ctx := r.Context()
	var u *store.User
	var err error
	if p.Email != "" {
		u, err = store.UserByEmail(ctx, e.db.Pgx(), p.Email, e.sessions.Audience(r, nil))
	} else {
		u, err = store.UserByPhone(ctx, e.db.Pgx(), p.Phone, e.sessions.Audience(r, nil))
	}
	if errors.Is(err, store.ErrNotFound) {
		return endpoint.SendJSON(w, http.StatusOK, struct{}{})
	}
	if err != nil {
		return err
	}
	switch {
	case p.Type == "signup" && u.Confirmed(), p.Type == "sms" && u.PhoneConfirmed(),
		p.Type == "email_change" && u.EmailChange == "", p.Type == "phone_change" && u.PhoneChange == "":
		return endpoint.SendJSON(w, http.StatusOK, struct{}{})
	}
	wait := e.sender.MailQueue()
	if p.Type == "sms" || p.Type == "phone_change" {
		wait = e.sender.TextQueue()
	}
	id, err := message.Queued(ctx, e.sender, wait, func(tx message.Tx) (string, error) {
		if p.pkce() && (p.Type == "signup" || p.Type == "email_change") {
			name := map[string]string{"signup": "email/signup", "email_change": "email_change"}[p.Type]
			if err := e.store.NewFlow(ctx, tx, store.Flow{Provider: name, Method: name, Challenge: p.Challenge, ChallengeMethod: p.ChallengeMethod, UserID: &u.ID}); err != nil {
				return "", err
			}
		}
		switch p.Type {
		case "signup":
			if err := e.store.Audit(ctx, tx, u, "user_confirmation_requested", nil); err != nil {
				return "", err
			}
			return "", e.sender.SendLink(r, tx, u, store.Confirmation, template.Confirmation, "signup", p.pkce())
		case "email_change":
			return "", e.sender.SendEmailChange(r, tx, u, u.EmailChange, p.pkce())
		case "sms":
			if err := e.store.Audit(ctx, tx, u, "user_recovery_requested", nil); err != nil {
				return "", err
			}
			return e.sender.SendPhoneCode(r, tx, u, store.Confirmation, u.Phone, "sms")
		}
		return e.sender.SendPhoneCode(r, tx, u, store.PhoneChange, u.PhoneChange, "sms")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, messageReply{id})
}

func (e *Engine) checkResend(kind string, p *signupParams) error {
	bad := func(text string) error { return wire.Errorf(http.StatusBadRequest, "validation_failed", "%s", text) }
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
		if e.config.DisableEmail {
			return wire.Errorf(http.StatusBadRequest, "email_provider_disabled", "Email logins are disabled")
		}
		p.Email, err = endpoint.ValidEmail(p.Email)
		return err
	case p.Phone != "":
		if !e.config.EnablePhone {
			return wire.Errorf(http.StatusBadRequest, "phone_provider_disabled", "Phone logins are disabled")
		}
		p.Phone, err = endpoint.ValidPhone(p.Phone)
		return err
	}
	return bad("Missing email address or phone number")
}

// messageReply names what was sent, where the sender gave it a name.
type messageReply struct {
	ID string `json:"message_id,omitempty"`
}

// reauthenticate sends a code that allows a password change in an old session.
func (e *Engine) reauthenticate(w http.ResponseWriter, r *http.Request, c *session.Caller) error {
	u, ctx := c.User, r.Context()
	switch {
	case u.Email == "" && u.Phone == "":
		return wire.Errorf(http.StatusBadRequest, "validation_failed", "Reauthentication requires the user to have an email or a phone number")
	case u.Email != "" && !u.Confirmed():
		return wire.Errorf(http.StatusUnprocessableEntity, "email_not_confirmed", "Please verify your email first.")
	case u.Email == "" && !u.PhoneConfirmed():
		return wire.Errorf(http.StatusUnprocessableEntity, "phone_not_confirmed", "Please verify your phone first.")
	}
	wait := e.sender.MailQueue()
	if u.Email == "" {
		wait = e.sender.TextQueue()
	}
	id, err := message.Queued(ctx, e.sender, wait, func(tx message.Tx) (string, error) {
		if err := e.store.Audit(ctx, tx, u, "user_reauthenticate_requested", nil); err != nil {
			return "", err
		}
		if u.Email != "" {
			return "", e.sender.SendLink(r, tx, u, store.Reauthentication, template.Reauthentication, "reauthentication", false)
		}
		return e.sender.SendPhoneCode(r, tx, u, store.Reauthentication, u.Phone, "sms")
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, messageReply{id})
}

// checkNonce checks the code that reauthenticate sent.
func (e *Engine) checkNonce(u *store.User, nonce string) error {
	contact, life := u.Email, e.sender.LinkExpiry()
	if contact == "" {
		contact, life = u.Phone, e.config.SMS.CodeExpiry
	}
	if contact == "" {
		return wire.Errorf(http.StatusUnprocessableEntity, "reauthentication_not_valid", "Reauthentication requires an email or a phone number")
	}
	if !store.Reauthentication.Matches(u, store.HashCode(contact, nonce), life, e.now()) {
		return wire.Errorf(http.StatusUnprocessableEntity, "reauthentication_not_valid", "Nonce has expired or is invalid")
	}
	return nil
}

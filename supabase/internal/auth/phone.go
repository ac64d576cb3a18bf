package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"text/template"
	"time"

	"daawo/supabase/internal/auth/endpoint"
	"daawo/supabase/internal/auth/password"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/wire"
)

// SMS sends a text to a phone. channel is sms or whatsapp. The id names the message at the sender; "" when it has none.
type SMS interface {
	SendSMS(ctx context.Context, phone, text, channel string) (id string, err error)
}

const invalidChannel = "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if Twilio or Twilio Verify is used as the provider."

func (e *Engine) checkChannel(channel string) error {
	if channel == "" || channel == "sms" || channel == "whatsapp" && e.config.SMS.WhatsApp {
		return nil
	}
	return wire.Errorf(http.StatusBadRequest, "validation_failed", invalidChannel)
}

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
	if err := e.checkChannel(p.Channel); err != nil {
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
	id, err := queued(ctx, e, e.textQueue(), func(tx messageTx) (string, error) {
		if err := e.store.Audit(ctx, tx, u, "user_recovery_requested", map[string]any{"channel": p.Channel}); err != nil {
			return "", err
		}
		return e.sendPhoneProof(r, tx, u, store.Confirmation, p.Phone, p.Channel)
	})
	if err != nil {
		return err
	}
	return endpoint.SendJSON(w, http.StatusOK, messageReply{id})
}

// testCode is the fixed code of a number, for reviewers of app stores.
func (e *Engine) testCode(phone string) (string, bool) {
	s := e.config.SMS
	if !s.TestUntil.IsZero() && e.now().After(s.TestUntil) {
		return "", false
	}
	code, ok := s.TestCodes[phone]
	return code, ok
}

// sendPhoneProof makes a code for a number, stores its hash and sends it.
func (e *Engine) sendPhoneProof(r *http.Request, tx messageTx, u *store.User, p store.OneTimeToken, phone, channel string) (string, error) {
	ctx := r.Context()
	_, sentAt := p.Fields(u)
	if err := e.limiter.TooSoon(*sentAt, e.config.SMS.MaxFrequency, "over_sms_send_rate_limit"); err != nil {
		return "", err
	}
	if p.Kind == store.PhoneChange.Kind && u.PhoneChange != phone {
		u.PhoneChange = phone
		if err := store.SetColumn(ctx, tx, u, "phone_change", phone, e.now()); err != nil {
			return "", err
		}
	}
	code, test := e.testCode(phone)
	id := "test-otp"
	if !test {
		code = password.Code(e.config.SMS.CodeLength)
		var err error
		if id, err = e.sendSMS(r, tx, u, smsData{OTP: code, Phone: phone}, e.config.SMS.Template, channel, p.Kind); err != nil {
			return "", err
		}
	}
	return id, p.Save(ctx, tx, u, phone, store.HashCode(phone, code), e.now())
}

// smsData is what the send_sms hook gets.
type smsData struct {
	OTP   string `json:"otp,omitempty"`
	Type  string `json:"sms_type,omitempty"`
	Phone string `json:"phone,omitempty"`
}

// sendSMS sends a code by the hook or the configured sender.
func (e *Engine) sendSMS(r *http.Request, tx messageTx, u *store.User, d smsData, textTemplate, channel, purpose string) (id string, err error) {
	if err := tx.tally.AllowSMS(r.Context(), tx); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			tx.tally.SMSNotSent()
		}
	}()
	if h := e.hooks.SendSMS; h.Enabled() {
		return "", e.hooks.Call(r, tx, h, "send-sms", map[string]any{"user": u, "sms": d}, &struct{}{})
	}
	if e.sms == nil {
		return "", wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Unable to get SMS provider")
	}
	t, err := template.New("").Parse(textTemplate)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Code string }{d.OTP}); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	id, err = e.sms.SendSMS(ctx, d.Phone, b.String(), channel)
	if err != nil {
		return "", wire.Errorf(http.StatusUnprocessableEntity, "sms_send_failed", "Error sending %s OTP to provider: %v", strings.TrimSuffix(purpose, "_token"), err).WithCause(err)
	}
	return id, nil
}

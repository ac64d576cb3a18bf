package message

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"text/template"
	"time"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/auth/message/sms"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/store"
)

const invalidChannel = "Invalid channel, supported values are 'sms' or 'whatsapp'. 'whatsapp' is only supported if " +
	"Twilio or Twilio Verify is used as the provider."

// CheckChannel returns an error if messages cannot be sent by the channel. The send_sms hook sends
// by any channel.
func (s *Sender) CheckChannel(channel string) error {
	if s.Hooks.SendSMS.Enabled() || channel == "" || channel == "sms" ||
		channel == "whatsapp" && s.Config.SMS.WhatsApp {
		return nil
	}
	return apierror.Errorf(http.StatusBadRequest, "validation_failed", invalidChannel)
}

// TestCode returns the fixed code of a test number, for reviewers of app stores.
func (s *Sender) TestCode(phone string) (string, bool) {
	c := s.Config.SMS
	if !c.TestUntil.IsZero() && s.Now().After(c.TestUntil) {
		return "", false
	}
	code, ok := c.TestCodes[phone]
	return code, ok
}

// SendPhoneCode makes a code for a number, stores its hash as token t and sends the code. It
// returns the provider's id of the message.
func (s *Sender) SendPhoneCode(r *http.Request, tx Tx, u *store.User, t store.OneTimeToken, phone,
	channel string) (string, error) {
	ctx := r.Context()
	if err := s.await(ctx, tx, u, t, s.Config.SMS.MaxFrequency, "over_sms_send_rate_limit"); err != nil {
		return "", err
	}
	if t.Kind == store.PhoneChange.Kind && u.PhoneChange != phone {
		u.PhoneChange = phone
		if err := store.SetColumn(ctx, tx, u, "phone_change", phone, s.Now()); err != nil {
			return "", err
		}
	}
	code, test := s.TestCode(phone)
	id := "test-otp"
	if !test && !u.Decoy {
		code = password.Code(s.Config.SMS.CodeLength)
		var err error
		if id, err = s.SendSMS(r, tx, u, SMSData{OTP: code, Phone: phone}, s.Config.SMS.Template, channel,
			t.Kind); err != nil {
			return "", err
		}
	}
	return id, t.Save(ctx, tx, u, phone, store.HashCode(phone, code), s.Now())
}

// SMSData is the input of the send_sms hook.
type SMSData struct {
	OTP   string `json:"otp,omitempty"`
	Type  string `json:"sms_type,omitempty"`
	Phone string `json:"phone,omitempty"`
}

// SendSMS sends a code by the hook or by the configured provider.
func (s *Sender) SendSMS(r *http.Request, tx Tx, u *store.User, d SMSData, textTemplate, channel,
	purpose string) (id string, err error) {
	if err := tx.tally.AllowSMS(r.Context(), tx); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			tx.tally.SMSNotSent()
		}
	}()
	if h := s.Hooks.SendSMS; h.Enabled() {
		return "", s.Hooks.Call(r, tx, h, "send-sms", map[string]any{"user": u, "sms": d}, &struct{}{})
	}
	if s.SMS == nil {
		return "", apierror.Errorf(http.StatusInternalServerError, "unexpected_failure", "Unable to get SMS provider")
	}
	t, err := template.New("").Parse(textTemplate)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Code string }{d.OTP}); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(r.Context(), providerTimeout)
	defer cancel()
	id, err = s.SMS.SendSMS(ctx, sms.Message{Phone: d.Phone, Text: b.String(), Code: d.OTP, Channel: channel})
	if err != nil {
		return "", apierror.Errorf(http.StatusUnprocessableEntity, "sms_send_failed",
			"Error sending %s OTP to provider: %v", strings.TrimSuffix(purpose, "_token"), err).WithCause(err)
	}
	return id, nil
}

// providerTimeout bounds a request to the SMS provider.
const providerTimeout = 10 * time.Second

// ChecksCodes reports whether the SMS provider makes the codes and checks them.
func (s *Sender) ChecksCodes() bool {
	_, ok := s.SMS.(CodeChecker)
	return ok && !s.Hooks.SendSMS.Enabled()
}

// CheckCode reports whether the SMS provider accepts a code that it sent to a phone.
func (s *Sender) CheckCode(ctx context.Context, phone, code string) (bool, error) {
	checker, ok := s.SMS.(CodeChecker)
	if !ok {
		return false, errors.New("the SMS provider checks no codes")
	}
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	valid, err := checker.CheckCode(ctx, phone, code)
	if err != nil {
		return false, apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
			"Unable to check the code with the SMS provider").WithCause(err)
	}
	return valid, nil
}

// CodeQueue is the queue of transactions that check a code from a phone.
func (s *Sender) CodeQueue() Queue {
	if s.ChecksCodes() {
		return s.texts
	}
	return nil
}

// Reply is the reply to a request that sent a message. ID is the provider's id of it, if there is
// one.
type Reply struct {
	ID string `json:"message_id,omitempty"`
}

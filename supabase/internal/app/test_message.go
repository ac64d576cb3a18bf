package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/hook"
	"daawo/supabase/internal/engine/auth/message/sms"
)

// testCode is the code of a test message. It is valid for no account.
const testCode = "000000"

// SendTestMessage sends a message with testCode as auth would. It returns what accepted it, and the
// provider's id of the message, "" if there is none.
func SendTestMessage(ctx context.Context, c *config.Config, phone, channel string) (by, id string, err error) {
	if phone, err = endpoint.ValidPhone(phone); err != nil {
		return "", "", fmt.Errorf("%q is not a phone number with its country code", phone)
	}
	if h := authHooks(c.Auth.Hook).SendSMS; h.Enabled() {
		if h.InDatabase() {
			return "", "", errors.New("the hook send_sms is a function of the database; call it with `daawo sql`")
		}
		input := map[string]any{"user": map[string]string{"phone": phone},
			"sms": map[string]string{"otp": testCode, "phone": phone}}
		return "the hook " + h.URI, "", hook.Caller{}.Call(ctx, nil, h, input, &struct{}{})
	}
	name, _ := textProvider(c)
	sender := textSender(c)
	if sender == nil {
		return "", "", errors.New("config.toml enables neither auth.hook.send_sms nor a provider of auth.sms")
	}
	text := c.Auth.SMS.Template
	if text == "" {
		text = "Your code is {{ .Code }}"
	}
	t, err := template.New("").Parse(text)
	if err != nil {
		return "", "", fmt.Errorf("auth.sms.template: %w", err)
	}
	var body strings.Builder
	if err := t.Execute(&body, struct{ Code string }{testCode}); err != nil {
		return "", "", fmt.Errorf("auth.sms.template: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	id, err = sender.SendSMS(ctx, sms.Message{Phone: phone, Text: body.String(), Code: testCode, Channel: channel})
	return name, id, err
}

const testTimeout = 15 * time.Second

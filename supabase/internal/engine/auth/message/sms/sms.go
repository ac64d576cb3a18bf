// Package sms sends text messages through one of GoTrue's providers: Twilio, Twilio Verify,
// MessageBird, Textlocal, Vonage.
package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is an account at a provider.
type Config struct {
	Account string // Twilio's account SID, Vonage's API key
	Secret  string
	Sender  string // a number, a name, a message service, or the service of Twilio Verify
	Content string // Twilio's template of WhatsApp messages, whose variable 1 is the code; "" for none
	URL     string // address of the provider; its usual one when empty
}

// Sender sends text messages.
type Sender struct {
	service string
	config  Config
	client  *http.Client
}

// Message is a message to one phone.
type Message struct {
	Phone   string // E.164 without plus
	Text    string
	Code    string // which the text has, too
	Channel string // sms or whatsapp
}

// New returns a Sender by the provider: twilio, messagebird, textlocal or vonage.
func New(service string, c Config) *Sender {
	return &Sender{service: service, config: c, client: &http.Client{Timeout: 10 * time.Second}}
}

// SendSMS sends a message.
func (s *Sender) SendSMS(ctx context.Context, m Message) (id string, err error) {
	request, read, err := s.request(ctx, m)
	if err != nil {
		return "", err
	}
	return s.do(request, read)
}

func (s *Sender) do(request *http.Request, read reader) (string, error) {
	response, err := s.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return "", err
	}
	return read(response.StatusCode, body)
}

// reader reads the reply of a provider.
type reader func(status int, body []byte) (id string, err error)

func (s *Sender) request(ctx context.Context, m Message) (*http.Request, reader, error) {
	c, phone, text := s.config, m.Phone, m.Text
	switch s.service {
	case "twilio":
		r, err := s.postTwilio(ctx, "https://api.twilio.com", "/2010-04-01/Accounts/"+url.PathEscape(c.Account)+
			"/Messages.json", twilioForm(c, m))
		return r, readTwilio, err
	case "messagebird":
		r, err := post(ctx, s.address("https://rest.messagebird.com")+"/messages",
			url.Values{"originator": {c.Sender}, "recipients": {phone}, "body": {text}, "type": {"sms"},
				"datacoding": {"unicode"}})
		if err == nil {
			r.Header.Set("Authorization", "AccessKey "+c.Secret)
		}
		return r, readMember("id", "errors"), err
	case "textlocal":
		r, err := post(ctx, s.address("https://api.textlocal.in")+"/send",
			url.Values{"sender": {c.Sender}, "apikey": {c.Secret}, "message": {text}, "numbers": {phone}})
		return r, readTextlocal, err
	case "vonage":
		r, err := post(ctx, s.address("https://rest.nexmo.com")+"/sms/json",
			url.Values{"from": {c.Sender}, "to": {phone}, "text": {text}, "api_key": {c.Account},
				"api_secret": {c.Secret}, "type": {"unicode"}})
		return r, readVonage, err
	}
	return nil, nil, fmt.Errorf("unknown SMS provider %q", s.service)
}

func (s *Sender) address(usual string) string {
	if s.config.URL != "" {
		return strings.TrimSuffix(s.config.URL, "/")
	}
	return usual
}

func post(ctx context.Context, address string, form url.Values) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r, nil
}

// readMember returns a reader that takes the id of the message from a 2xx reply, and the reason
// from another one.
func readMember(id, reason string) reader {
	return func(status int, body []byte) (string, error) {
		var m map[string]any
		err := json.Unmarshal(body, &m)
		if status/100 != 2 {
			return "", fmt.Errorf("status %d: %v", status, m[reason])
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprint(m[id]), nil
	}
}

// twilioForm returns the parameters of a message.
func twilioForm(c Config, m Message) url.Values {
	to, from := "+"+m.Phone, c.Sender
	if m.Channel == "whatsapp" {
		to, from = "whatsapp:"+to, "whatsapp:"+from
	}
	form := url.Values{"To": {to}, "From": {from}, "Body": {m.Text}}
	if strings.HasPrefix(c.Sender, "MG") { // a messaging service, not a number
		form.Del("From")
		form.Set("MessagingServiceSid", c.Sender)
	}
	if m.Channel == "whatsapp" && c.Content != "" {
		form.Del("Body")
		form.Set("ContentSid", c.Content)
		form.Set("ContentVariables", fmt.Sprintf(`{"1":%q}`, m.Code))
	}
	return form
}

// postTwilio returns a request with the account's credentials. usual is the host if the
// configuration names no other.
func (s *Sender) postTwilio(ctx context.Context, usual, path string, form url.Values) (*http.Request, error) {
	r, err := post(ctx, s.address(usual)+path, form)
	if err == nil {
		r.SetBasicAuth(s.config.Account, s.config.Secret)
	}
	return r, err
}

// readTwilio reads the reply to a message, which may say that the message failed at once.
func readTwilio(status int, body []byte) (string, error) {
	var m struct {
		Status string `json:"status"`
		Reason string `json:"error_message"`
	}
	if status/100 == 2 && json.Unmarshal(body, &m) == nil && (m.Status == "failed" || m.Status == "undelivered") {
		return "", fmt.Errorf("message %s: %s", m.Status, m.Reason)
	}
	return readMember("sid", "message")(status, body)
}

func readTextlocal(_ int, body []byte) (string, error) {
	var m struct {
		Status   string `json:"status"`
		Messages []struct {
			ID json.Number `json:"id"`
		} `json:"messages"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return "", err
	}
	if m.Status != "success" || len(m.Messages) == 0 {
		if len(m.Errors) > 0 {
			return "", errors.New(m.Errors[0].Message)
		}
		return "", errors.New("not sent")
	}
	return m.Messages[0].ID.String(), nil
}

func readVonage(_ int, body []byte) (string, error) {
	var m struct {
		Messages []struct {
			ID     string `json:"message-id"`
			Status string `json:"status"`
			Error  string `json:"error-text"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return "", err
	}
	if len(m.Messages) == 0 {
		return "", errors.New("not sent")
	}
	if first := m.Messages[0]; first.Status != "0" {
		return "", fmt.Errorf("status %s: %s", first.Status, first.Error)
	}
	return m.Messages[0].ID, nil
}

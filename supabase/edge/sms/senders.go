package sms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/edge"
)

// maxReply bounds the reply of a service in bytes.
const maxReply = 64 << 10

// call sends a request and returns the status and the body of the reply.
func call(env *edge.Env, r *http.Request) (status int, body []byte, err error) {
	response, err := env.HTTP().Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxReply))
	return response.StatusCode, body, err
}

// variables returns the values of variables, or an error that names the first one that is missing.
func variables(env *edge.Env, names ...string) ([]string, error) {
	values := make([]string, len(names))
	for i, name := range names {
		if values[i] = env.Get(name); values[i] == "" {
			return nil, fmt.Errorf("the variable %s is not set", name)
		}
	}
	return values, nil
}

// form returns a POST with the fields of a form.
func form(ctx context.Context, address string, fields url.Values) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(fields.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "application/json")
	}
	return r, err
}

// africasTalking is the SMS API of Africa's Talking. AFRICASTALKING_SENDER, a short code or a name,
// may be missing. The user "sandbox" sends to its simulator.
func africasTalking() Sender {
	return Sender{"africastalking", func(ctx context.Context, env *edge.Env, m Message) (string, error) {
		v, err := variables(env, "AFRICASTALKING_USERNAME", "AFRICASTALKING_API_KEY")
		if err != nil {
			return "", err
		}
		host := "https://api.africastalking.com"
		if v[0] == "sandbox" {
			host = "https://api.sandbox.africastalking.com"
		}
		fields := url.Values{"username": {v[0]}, "to": {"+" + m.Phone}, "message": {m.Text}}
		if from := env.Get("AFRICASTALKING_SENDER"); from != "" {
			fields.Set("from", from)
		}
		r, err := form(ctx, cmp.Or(env.Get("AFRICASTALKING_URL"), host)+"/version1/messaging", fields)
		if err != nil {
			return "", err
		}
		r.Header.Set("apiKey", v[1])
		status, body, err := call(env, r)
		if err != nil {
			return "", err
		}
		return readAfricasTalking(status, body)
	}}
}

// accepted are the status codes of recipients whose message is processed, sent or queued.
func accepted(code int) bool { return code >= 100 && code <= 102 }

func readAfricasTalking(status int, body []byte) (string, error) {
	var reply struct {
		Data struct {
			Message    string
			Recipients []struct {
				StatusCode int    `json:"statusCode"`
				Status     string `json:"status"`
				ID         string `json:"messageId"`
			}
		} `json:"SMSMessageData"`
	}
	err := json.Unmarshal(body, &reply)
	switch list := reply.Data.Recipients; {
	case status/100 != 2:
		return "", fmt.Errorf("status %d: %s", status, cmp.Or(reply.Data.Message, string(body)))
	case err != nil:
		return "", errors.New("the reply is not JSON")
	case len(list) == 0:
		return "", fmt.Errorf("not sent: %s", reply.Data.Message)
	case !accepted(list[0].StatusCode):
		return "", fmt.Errorf("status %d: %s", list[0].StatusCode, list[0].Status)
	default:
		return list[0].ID, nil
	}
}

// whatsApp is Meta's Cloud API with a template of the category authentication.
func whatsApp() Sender {
	return Sender{"whatsapp", func(ctx context.Context, env *edge.Env, m Message) (string, error) {
		v, err := variables(env, "WHATSAPP_TOKEN", "WHATSAPP_PHONE_NUMBER_ID", "WHATSAPP_TEMPLATE")
		if err != nil {
			return "", err
		}
		code := []any{map[string]string{"type": "text", "text": m.Code}}
		body, err := json.Marshal(map[string]any{
			"messaging_product": "whatsapp", "to": m.Phone, "type": "template", "template": map[string]any{
				"name": v[2], "language": map[string]string{"code": cmp.Or(env.Get("WHATSAPP_LANGUAGE"), "en")},
				"components": []any{
					map[string]any{"type": "body", "parameters": code},
					map[string]any{"type": "button", "sub_type": "url", "index": "0", "parameters": code},
				},
			},
		})
		if err != nil {
			return "", err
		}
		address := cmp.Or(env.Get("WHATSAPP_URL"), "https://graph.facebook.com") + "/" +
			cmp.Or(env.Get("WHATSAPP_VERSION"), "v23.0") + "/" + url.PathEscape(v[1]) + "/messages"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+v[0])
		status, reply, err := call(env, r)
		if err != nil {
			return "", err
		}
		return readWhatsApp(status, reply)
	}}
}

func readWhatsApp(status int, body []byte) (string, error) {
	var reply struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err := json.Unmarshal(body, &reply)
	switch {
	case status/100 != 2:
		return "", fmt.Errorf("status %d: %s", status, reply.Error.Message)
	case err != nil:
		return "", errors.New("the reply is not JSON")
	case len(reply.Messages) == 0:
		return "", errors.New("the reply has no message")
	}
	return reply.Messages[0].ID, nil
}

// twilio is Twilio's Programmable Messaging. TWILIO_FROM is a number, a name or a messaging service
// (MG…).
func twilio() Sender {
	return Sender{"twilio", func(ctx context.Context, env *edge.Env, m Message) (string, error) {
		v, err := variables(env, "TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM")
		if err != nil {
			return "", err
		}
		fields := url.Values{"To": {"+" + m.Phone}, "From": {v[2]}, "Body": {m.Text}}
		if strings.HasPrefix(v[2], "MG") {
			fields.Del("From")
			fields.Set("MessagingServiceSid", v[2])
		}
		r, err := form(ctx, cmp.Or(env.Get("TWILIO_URL"), "https://api.twilio.com")+"/2010-04-01/Accounts/"+
			url.PathEscape(v[0])+"/Messages.json", fields)
		if err != nil {
			return "", err
		}
		r.SetBasicAuth(v[0], v[1])
		status, body, err := call(env, r)
		if err != nil {
			return "", err
		}
		var reply struct {
			ID      string `json:"sid"`
			Status  string `json:"status"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(body, &reply); err != nil && status/100 == 2 {
			return "", errors.New("the reply is not JSON")
		}
		if status/100 != 2 || reply.Status == "failed" || reply.Status == "undelivered" {
			return "", fmt.Errorf("status %d: %s %s", status, reply.Status, reply.Message)
		}
		return reply.ID, nil
	}}
}

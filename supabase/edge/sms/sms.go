// Package sms sends the codes of auth as text messages, through services that auth does not know
// itself. Func is a function for auth's hook send_sms:
//
//	// functions/send-sms/func.go
//	package sendsms
//
//	var Func = sms.Func(sms.Options{})
//
// Variables name the services and their accounts. SMS_SENDERS is their order, such as
// "whatsapp,africastalking,gateway": if one refuses a message, the next sends it. Each message is
// one row of the table public.sms_deliveries, which Schema creates.
package sms

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"text/template"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/edge"
)

// Schema is the migration of the delivery log.
//
//go:embed schema.sql
var Schema string

// Options are the options of Func. The zero value is usable.
type Options struct {
	Text    string        // text/template with .Code; "Your code is {{ .Code }}" when empty
	Senders []Sender      // besides the built-in ones
	Timeout time.Duration // of one attempt; 2 s when zero. All attempts together have 4.5 s
	Keep    time.Duration // how long the log keeps a message; 30 days when zero
}

// Message is a message to one phone.
type Message struct {
	Phone string // E.164 without plus
	Code  string
	Text  string // with the code
}

// Sender is a service that sends messages.
type Sender struct {
	Name string // in SMS_SENDERS and in the log
	// Send sends a message and returns the service's id of it. Its error is stored and logged; Func
	// removes numbers from it.
	Send func(ctx context.Context, env *edge.Env, m Message) (id string, err error)
}

// maxBody bounds the body of a hook in bytes: it holds the whole user.
const maxBody = 256 << 10

// Func returns the function of the hook. It accepts calls that one of the secrets in
// SEND_SMS_HOOK_SECRETS has signed, as auth signs them (Standard Webhooks).
func Func(o Options) edge.Func {
	s := newService(o)
	return edge.Func{
		Methods: []string{http.MethodPost}, NoVerifyJWT: true, MaxBody: maxBody, Timeout: 10 * time.Second,
		Handler: s.handle, Health: s.check, Schedule: "41 2 * * *", Run: s.forget,
	}
}

type service struct {
	Options
	text *template.Template
	err  error // of the text
}

func newService(o Options) *service {
	s := &service{Options: o}
	s.Text = cmp.Or(s.Text, "Your code is {{ .Code }}")
	s.Timeout = cmp.Or(s.Timeout, 2*time.Second)
	s.Keep = cmp.Or(s.Keep, 30*24*time.Hour)
	s.Senders = append(s.Senders, africasTalking(), whatsApp(), twilio(), gateway())
	s.text, s.err = template.New("text").Parse(s.Text)
	return s
}

// check returns an error if the function could send no message as it is configured.
func (s *service) check(ctx context.Context, env *edge.Env) error {
	if s.err != nil {
		return s.err
	}
	if _, err := secrets(env); err != nil {
		return err
	}
	if _, err := s.order(env); err != nil {
		return err
	}
	return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `select from public.sms_deliveries limit 0`)
		return err
	})
}

// order returns the senders of SMS_SENDERS.
func (s *service) order(env *edge.Env) ([]Sender, error) {
	var out []Sender
	for name := range strings.SplitSeq(env.Get("SMS_SENDERS"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		found := false
		for _, sender := range s.Senders {
			if sender.Name == name && !found {
				out, found = append(out, sender), true
			}
		}
		if !found {
			return nil, fmt.Errorf("SMS_SENDERS: unknown sender %q", name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("SMS_SENDERS names no sender")
	}
	return out, nil
}

func (s *service) handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	body, err := edge.ReadBody(r)
	if err != nil {
		return err
	}
	keys, err := secrets(env)
	if err != nil {
		return err
	}
	if err := verify(r.Header, body, keys, env.Now()); err != nil {
		refused := edge.Errorf(http.StatusUnauthorized, "invalid_signature", "The request is not signed by auth.")
		refused.Err = err
		return refused
	}
	m, err := s.message(body)
	if err != nil {
		return err
	}
	senders, err := s.order(env)
	if err != nil {
		return err
	}
	sent, err := s.deliver(r.Context(), env, r.Header.Get("webhook-id"), senders, m)
	if err != nil {
		return err
	}
	if !sent {
		return edge.WriteJSON(w, http.StatusOK, failure{hookError{http.StatusUnprocessableEntity,
			"The message could not be sent."}})
	}
	return edge.WriteJSON(w, http.StatusOK, struct{}{})
}

// failure is an error in the form that auth passes on to the client.
type failure struct {
	Error hookError `json:"error"`
}

type hookError struct {
	Code    int    `json:"http_code"`
	Message string `json:"message"`
}

// message reads the input of the hook.
func (s *service) message(body []byte) (Message, error) {
	var in struct {
		User struct {
			Phone string `json:"phone"`
		} `json:"user"`
		SMS struct {
			OTP   string `json:"otp"`
			Phone string `json:"phone"`
		} `json:"sms"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Message{}, edge.Errorf(http.StatusBadRequest, "validation_failed", "The body is not JSON.")
	}
	m := Message{Phone: in.SMS.Phone, Code: in.SMS.OTP}
	m.Phone = cmp.Or(m.Phone, in.User.Phone)
	m.Phone = strings.TrimPrefix(m.Phone, "+")
	if m.Phone == "" || m.Code == "" || strings.Trim(m.Phone, "0123456789") != "" {
		return m, edge.Errorf(http.StatusBadRequest, "validation_failed", "The body has no number or no code.")
	}
	if s.err != nil {
		return m, s.err
	}
	var text bytes.Buffer
	err := s.text.Execute(&text, struct{ Code string }{m.Code})
	m.Text = text.String()
	return m, err
}

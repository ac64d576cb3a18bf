// Package mail sends mail over SMTP and has an inbox for development. The inbox receives mail over SMTP and shows it on a
// web page and through Mailpit's JSON API.
//
// outbox sends mail with it, auth composes messages for it, and app runs the inbox. It imports nothing of ours.
package mail

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Message is one mail. Either Text or HTML may be empty.
type Message struct {
	To      []string `json:"to"` // addresses, with or without a name
	Subject string   `json:"subject"`
	Text    string   `json:"text,omitempty"`
	HTML    string   `json:"html,omitempty"`
	ReplyTo string   `json:"reply_to,omitempty"`
	ID      string   `json:"id,omitempty"` // left part of the Message-ID, equal for all attempts; "" generates one
}

// Server is the SMTP server to send through, with the sender's address.
type Server struct {
	Host     string
	Port     int
	TLS      string // "starttls", "implicit" or "off"; "" is implicit on port 465 and starttls on other ports
	User     string // "" sends without authentication
	Password string
	From     string // address of the sender
	FromName string
	// Plain allows a connection without TLS, for the inbox on this machine. Otherwise a server without TLS is an error.
	Plain   bool
	Timeout time.Duration // of one delivery; 0 means 30 s
}

// Send delivers one message.
func (s Server) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.Host, s.options()...)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send mail through %s:%d: %w", s.Host, s.Port, err)
	}
	return nil
}

// Check connects and authenticates without sending mail.
func (s Server) Check(ctx context.Context) error {
	client, err := gomail.NewClient(s.Host, s.options()...)
	if err != nil {
		return fmt.Errorf("mail server: %w", err)
	}
	if err := client.DialWithContext(ctx); err != nil {
		return fmt.Errorf("connect to the mail server %s:%d: %w", s.Host, s.Port, err)
	}
	return client.Close()
}

func (s Server) options() []gomail.Option {
	timeout := s.Timeout
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	options := []gomail.Option{gomail.WithPort(s.Port), gomail.WithTimeout(timeout)}
	switch {
	case s.Plain:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case s.TLS == "off":
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	case s.TLS == "implicit", s.TLS == "" && s.Port == 465:
		options = append(options, gomail.WithSSL())
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User), gomail.WithPassword(s.Password))
	}
	return options
}

func (s Server) compose(m Message) (*gomail.Msg, error) {
	msg := gomail.NewMsg()
	if err := msg.FromFormat(s.FromName, s.From); err != nil {
		return nil, fmt.Errorf("sender %q: %w", s.From, err)
	}
	if err := msg.To(m.To...); err != nil {
		return nil, fmt.Errorf("recipient: %w", err)
	}
	if m.ReplyTo != "" {
		if err := msg.ReplyTo(m.ReplyTo); err != nil {
			return nil, fmt.Errorf("reply-to %q: %w", m.ReplyTo, err)
		}
	}
	if m.ID != "" {
		msg.SetMessageIDWithValue(m.ID + "@" + domain(s.From))
	}
	msg.Subject(oneLine(m.Subject))
	msg.SetDate()
	switch {
	case m.Text != "" && m.HTML != "":
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	case m.HTML != "":
		msg.SetBodyString(gomail.TypeTextHTML, m.HTML)
	default:
		msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	}
	return msg, nil
}

// oneLine removes line breaks, so a subject cannot add headers.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func domain(address string) string {
	a, err := mail.ParseAddress(address)
	if err != nil {
		return "localhost"
	}
	_, d, _ := strings.Cut(a.Address, "@")
	return d
}

// Package mail sends mail over SMTP and has an inbox for development. The inbox receives mail over
// SMTP and shows it on a web page and through Mailpit's JSON API.
//
// jobs sends mail with it, auth composes messages for it, and app runs the inbox.
package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// Message is one mail. Either Text or HTML may be empty.
type Message struct {
	To      []string `json:"to"` // addresses, with or without a name
	Subject string   `json:"subject"`
	Text    string   `json:"text,omitempty"`
	HTML    string   `json:"html,omitempty"`
	ReplyTo string   `json:"reply_to,omitempty"`
	Kind    string   `json:"kind,omitempty"` // $messageType in the server's headers
	ID      string   `json:"id,omitempty"`   // left part of the Message-ID, equal for all attempts; "" generates one
}

// Server is the SMTP server to send through, with the sender's address.
type Server struct {
	Host     string
	Port     int
	TLS      string // "starttls", "implicit" or "off"; "" is implicit on port 465 and starttls on other ports
	User     string // "" sends without authentication, as does a server that offers none
	Password string
	From     string // address of the sender
	FromName string
	Headers  map[string][]string // further headers of all mails; $messageType is the kind of the mail
	// Plain allows a connection without TLS, for the inbox on this machine. Otherwise a server
	// without TLS is an error.
	Plain   bool
	Timeout time.Duration // of one delivery; 0 means 30 s
}

// Send delivers one message. A server that offers no authentication gets it without, as GoTrue
// sends it.
func (s Server) Send(ctx context.Context, m Message) (err error) {
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.client.SendWithSMTPClient(c.session, msg); err != nil {
		return fmt.Errorf("send mail through %s:%d: %w", s.Host, s.Port, err)
	}
	return nil
}

// Check connects without sending mail. authenticated is false if there is no user name, or if the
// server offers no authentication.
func (s Server) Check(ctx context.Context) (authenticated bool, err error) {
	c, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	return c.authenticated, c.close()
}

// connection is an SMTP session that can send.
type connection struct {
	client        *gomail.Client
	session       *smtp.Client
	authenticated bool
}

func (c *connection) close() error { return c.client.CloseWithSMTPClient(c.session) }

// connect opens a session and authenticates. Only a server that does not offer AUTH is used
// without.
func (s Server) connect(ctx context.Context) (*connection, error) {
	c, err := s.dial(ctx)
	if err == nil || s.User == "" {
		return c, err
	}
	anonymous := s
	anonymous.User = ""
	other, failed := anonymous.dial(ctx)
	if failed != nil {
		return nil, err
	}
	if offered, _ := other.session.Extension("AUTH"); offered {
		return nil, errors.Join(err, other.close())
	}
	return other, nil
}

func (s Server) dial(ctx context.Context) (*connection, error) {
	client, err := gomail.NewClient(s.Host, s.options()...)
	if err != nil {
		return nil, fmt.Errorf("mail server: %w", err)
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the mail server %s:%d: %w", s.Host, s.Port, err)
	}
	return &connection{client, session, s.User != ""}, nil
}

func (s Server) options() []gomail.Option {
	timeout := cmp.Or(s.Timeout, 30*time.Second)
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
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.User),
			gomail.WithPassword(s.Password))
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
	for name, values := range s.Headers {
		msg.SetGenHeader(gomail.Header(oneLine(name)), m.headerValues(values)...)
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

// headerValues returns the values of a header of the server for this mail.
func (m Message) headerValues(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = oneLine(strings.ReplaceAll(v, "$messageType", m.Kind))
	}
	return out
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

// Package message sends mails and text messages to users: links, codes and notifications.
package message

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/hookpoint"
	"daawo/supabase/internal/engine/auth/message/sms"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/ratelimit"
	"daawo/supabase/internal/engine/auth/redirect"
)

// Mailer sends a mail once the transaction commits, as jobs.Outbox does. It queues a mail without a
// recipient like any other, and does not send it. An error other than Undelivered is the
// database's.
type Mailer interface {
	SendMail(ctx context.Context, tx pgx.Tx, m mail.Message) error
}

// Undelivered means that the mail server refused a mail or could not be reached.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return "mail not delivered: " + u.Cause.Error() }

// Unwrap returns the cause.
func (u Undelivered) Unwrap() error { return u.Cause }

// SMS sends text messages. The id is the provider's name of the message; "" if it has none.
type SMS interface {
	SendSMS(ctx context.Context, m sms.Message) (id string, err error)
}

// CodeChecker is an SMS that makes the codes itself and checks them.
type CodeChecker interface {
	CheckCode(ctx context.Context, phone, code string) (valid bool, err error)
}

// MailConfig is about mails. A template is one of invite, confirmation, recovery, magic_link,
// email_change, reauthentication and …_notification.
type MailConfig struct {
	Subjects     map[string]string     // by template; the built-in ones where missing
	Templates    map[string]string     // HTML, by template; the built-in ones where missing
	Translations template.Translations // of the built-in texts
	// of the links in invite, confirmation, recovery, email_change; ExternalURL/verify where
	// missing
	Paths map[string]string
	// ExternalHosts are further hosts of auth. A request that names one in X-Forwarded-Host gets
	// links to it.
	ExternalHosts []string
	Notifications map[string]bool // password_changed, email_changed, …: whether the user is told

	CodeLength         int           // digits; 6 when zero
	CodeExpiry         time.Duration // a day when zero
	MaxFrequency       time.Duration // between two mails to one user; a minute when zero, none when negative
	SingleConfirmation bool          // an address change needs the confirmation of the new address only
	Authorized         []string      // when set, only these addresses get mail
}

// SMSConfig is about text messages.
type SMSConfig struct {
	Template     string            // text/template with .Code; "Your code is …" when empty
	CodeLength   int               // 6 when zero
	CodeExpiry   time.Duration     // a minute when zero
	MaxFrequency time.Duration     // a minute when zero, none when negative
	TestCodes    map[string]string // number → its fixed code, for reviewers of app stores; nothing is sent
	TestUntil    time.Time         // when the test codes expire; never when zero
	WhatsApp     bool              // the sender supports the channel whatsapp
}

// Config is the part of auth's configuration about messages.
type Config struct {
	SiteURL     string // where links lead if the request names no other allowed address
	ExternalURL string // public address of auth
	Mail        MailConfig
	SMS         SMSConfig
}

// Options is what a Sender needs.
type Options struct {
	DB        *pool.Pool // as supabase_auth_admin
	Limiter   *ratelimit.Limiter
	Hooks     *hookpoint.Caller
	Redirects *redirect.List
	Templates *template.Set
	Mailer    Mailer // nil: mails fail
	SMS       SMS    // nil: text messages fail
	// DirectMail: Mailer talks to the mail server while the transaction is open.
	DirectMail bool
	Log        *slog.Logger
	Now        func() time.Time
	Config     Config
}

// Sender sends messages.
type Sender struct {
	Options

	texts, mails Queue
}

// New returns a Sender.
func New(o Options) *Sender {
	connections := o.DB.Pgx().Config().MaxConns
	return &Sender{Options: o, texts: newQueue(connections), mails: newQueue(connections)}
}

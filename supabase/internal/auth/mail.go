package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/auth/message/template"
	"daawo/supabase/internal/auth/password"
	"daawo/supabase/internal/auth/store"
	"daawo/supabase/internal/mail"
	"daawo/supabase/internal/wire"
)

// Mailer sends a mail once the transaction commits; outbox.Outbox is one. An error that is no Undelivered is the database's.
type Mailer interface {
	SendMail(ctx context.Context, tx pgx.Tx, m mail.Message) error
}

// Undelivered says that a mail server did not take a mail.
type Undelivered struct{ Cause error }

func (u Undelivered) Error() string { return "the mail was not taken: " + u.Cause.Error() }
func (u Undelivered) Unwrap() error { return u.Cause }

// message is one mail to a user.
type message struct {
	kind   string // letter
	action string // type of the link: signup, recovery, magiclink, invite, email_change; what a hook sees, too
	to     string // the user's address when empty
	code   string
	hash   string // of the link
	about  template.Data
}

// language is the reader's, from the account's metadata.
func language(u *store.User) string { return u.UserMetadata.Text("language") }

// sendMail writes a message and hands it over, in the transaction that made the proof in it.
func (e *Engine) sendMail(r *http.Request, tx messageTx, u *store.User, m message) (err error) {
	if m.to == "" {
		m.to = u.Email
	}
	if !e.authorized(m.to) {
		return wire.Errorf(http.StatusBadRequest, "email_address_not_authorized", "Email address %q cannot be used as it is not authorized", m.to)
	}
	if err := tx.tally.AllowMail(r.Context(), tx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tx.tally.MailNotSent()
		}
	}()
	unsent := wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Error sending %s email", strings.ReplaceAll(m.kind, "_", " "))
	if e.mailer == nil {
		return unsent
	}
	d := m.about
	d.SiteURL, d.Email, d.Data, d.Token, d.TokenHash = e.config.SiteURL, u.Email, u.UserMetadata, m.code, m.hash
	d.SendingTo, d.NewEmail, d.Phone = m.to, u.EmailChange, u.Phone
	if m.hash != "" {
		d.RedirectTo = e.redirectTo(r)
		d.ConfirmationURL = e.link(m.action, m.hash, d.RedirectTo)
	}
	subject, html, err := e.templates.Write(m.kind, language(u), d)
	if err != nil {
		return err
	}
	err = e.mailer.SendMail(r.Context(), tx, mail.Message{To: []string{m.to}, Subject: subject, HTML: html})
	if errors.As(err, new(Undelivered)) {
		return unsent.WithCause(err)
	}
	return err
}

// authorized says whether mail may go to an address; a label (name+label@) does not matter.
func (e *Engine) authorized(address string) bool {
	if len(e.config.Mail.Authorized) == 0 {
		return true
	}
	name, domain, _ := strings.Cut(address, "@")
	name, _, _ = strings.Cut(name, "+")
	return slices.ContainsFunc(e.config.Mail.Authorized, func(a string) bool { return strings.EqualFold(a, name+"@"+domain) })
}

// link is the address that proves something when it is followed.
func (e *Engine) link(action, hash, redirect string) string {
	path := e.config.Mail.Paths[linkPath(action)]
	base := strings.TrimSuffix(e.config.ExternalURL, "/") + "/verify"
	if path != "" {
		// An installation's own path is relative to the host, as GoTrue resolves it.
		if external, err := url.Parse(e.config.ExternalURL); err == nil {
			if u, err := external.Parse(path); err == nil {
				base = u.String()
			}
		}
	}
	if strings.ContainsAny(redirect, "&=#") { // otherwise the caller may have encoded it
		redirect = url.QueryEscape(redirect)
	}
	return base + "?token=" + url.QueryEscape(hash) + "&type=" + url.QueryEscape(action) + "&redirect_to=" + redirect
}

func linkPath(action string) string {
	switch action {
	case "signup":
		return "confirmation"
	case "magiclink":
		return "recovery"
	}
	return action
}

// redirectTo is where the person goes after following a link: what the request asks for, if it is allowed.
func (e *Engine) redirectTo(r *http.Request) string {
	for _, target := range []string{r.Header.Get("redirect_to"), r.URL.Query().Get("redirect_to"), r.PostForm.Get("redirect_to"), r.Referer()} {
		if target != "" && e.redirects.Allows(target) {
			return target
		}
	}
	return e.config.SiteURL
}

// sendProof makes a code for the user's address, stores its hash and mails it with a link.
func (e *Engine) sendProof(r *http.Request, tx messageTx, u *store.User, p store.OneTimeToken, kind, action string, pkce bool) error {
	ctx := r.Context()
	_, sentAt := p.Fields(u)
	if err := e.limiter.TooSoon(*sentAt, e.config.Mail.MaxFrequency, "over_email_send_rate_limit"); err != nil {
		return err
	}
	code := password.Code(e.config.Mail.CodeLength)
	hash := store.HashCode(u.Email, code)
	if pkce {
		hash = store.PKCEPrefix + hash
	}
	if err := p.Save(ctx, tx, u, u.Email, hash, e.now()); err != nil {
		return err
	}
	m := message{kind: kind, action: action, code: code, hash: hash}
	if p.Kind == store.Reauthentication.Kind {
		m.hash = "" // a code only: there is nothing to follow
	}
	if e.hooks.SendEmail.Enabled() {
		return e.mailByHook(r, tx, u, emailData{Token: code, TokenHash: hash, Action: action})
	}
	return e.sendMail(r, tx, u, m)
}

// sendEmailChange mails the new address, and where both must agree the current one, too.
func (e *Engine) sendEmailChange(r *http.Request, tx messageTx, u *store.User, address string, pkce bool) error {
	ctx, now := r.Context(), e.now()
	if err := e.limiter.TooSoon(u.EmailChangeSentAt, e.config.Mail.MaxFrequency, "over_email_send_rate_limit"); err != nil {
		return err
	}
	u.EmailChange, u.EmailChangeConfirmStatus = address, 0
	if _, err := tx.Exec(ctx, `update auth.users set email_change = $2, email_change_confirm_status = 0, updated_at = $3 where id = $1`,
		u.ID, address, now); err != nil {
		return err
	}
	prefix := ""
	if pkce {
		prefix = store.PKCEPrefix
	}
	newCodeText := password.Code(e.config.Mail.CodeLength)
	hash := prefix + store.HashCode(address, newCodeText)
	if err := store.EmailChangeNew.Save(ctx, tx, u, address, hash, now); err != nil {
		return err
	}
	mails := []message{{kind: template.EmailChange, action: "email_change", to: address, code: newCodeText, hash: hash}}
	both := !e.config.Mail.SingleConfirmation && u.Email != ""
	if both {
		current := password.Code(e.config.Mail.CodeLength)
		hash := prefix + store.HashCode(u.Email, current)
		if err := store.EmailChangeCurrent.Save(ctx, tx, u, u.Email, hash, now); err != nil {
			return err
		}
		mails = append(mails, message{kind: template.EmailChange, action: "email_change", to: u.Email, code: current, hash: hash})
	}
	if e.hooks.SendEmail.Enabled() {
		// GoTrue's fields are crossed: token belongs to the current address and token_hash to the new one.
		data := emailData{Token: newCodeText, TokenHash: hash, Action: "email_change"}
		if both {
			data.Token, data.TokenNew, data.TokenHashNew = mails[1].code, newCodeText, mails[1].hash
		}
		return e.mailByHook(r, tx, u, data)
	}
	for _, m := range mails {
		if err := e.sendMail(r, tx, u, m); err != nil {
			return err
		}
	}
	return nil
}

// notice is how the configuration names a letter about a change.
func notice(kind string) string { return strings.TrimSuffix(kind, "_notification") }

// notify tells the user about a change, where the installation wants that. What was changed stays changed when it fails.
func (e *Engine) notify(r *http.Request, tx messageTx, u *store.User, kind, to string, about template.Data) {
	if to == "" {
		to = u.Email
	}
	if !e.config.Mail.Notifications[notice(kind)] || to == "" {
		return
	}
	// A savepoint: a mail that cannot be written must not undo what it tells of.
	err := pgx.BeginFunc(r.Context(), tx.Tx, func(savepoint pgx.Tx) error {
		tx := messageTx{savepoint, tx.tally}
		if e.hooks.SendEmail.Enabled() {
			return e.mailByHook(r, tx, u, emailData{
				Action: kind, OldEmail: about.OldEmail, OldPhone: about.OldPhone, Provider: about.Provider, FactorType: about.FactorType,
			})
		}
		return e.sendMail(r, tx, u, message{kind: kind, action: kind, to: to, about: about})
	})
	if err != nil {
		e.log.WarnContext(r.Context(), "a notification was not sent", "kind", kind, "error", err)
	}
}

func (e *Engine) mailLife() time.Duration { return e.config.Mail.CodeExpiry }

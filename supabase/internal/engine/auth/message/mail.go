package message

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/base/mail"
	"daawo/supabase/internal/engine/auth/message/template"
	"daawo/supabase/internal/engine/auth/password"
	"daawo/supabase/internal/engine/auth/store"
)

// emailData is the input of the send_email hook, which sends the mail itself; the names are
// GoTrue's.
type emailData struct {
	Token        string `json:"token"`
	TokenHash    string `json:"token_hash"`
	RedirectTo   string `json:"redirect_to"`
	Action       string `json:"email_action_type"`
	SiteURL      string `json:"site_url"`
	TokenNew     string `json:"token_new"`
	TokenHashNew string `json:"token_hash_new"`
	OldEmail     string `json:"old_email"`
	OldPhone     string `json:"old_phone"`
	Provider     string `json:"provider"`
	FactorType   string `json:"factor_type"`
}

// mailByHook lets the hook send a mail.
func (s *Sender) mailByHook(r *http.Request, tx Tx, u *store.User, d emailData) error {
	if err := tx.tally.AllowMail(r.Context(), tx); err != nil {
		return err
	}
	if u.Decoy {
		tx.tally.SpareMail()
		return nil
	}
	d.RedirectTo, d.SiteURL = s.RedirectTo(r), s.externalURL(r)
	err := s.Hooks.Call(r, tx, s.Hooks.SendEmail, "send-email", map[string]any{"user": u, "email_data": d}, &struct{}{})
	if err != nil {
		tx.tally.MailNotSent()
	}
	return err
}

// email is one mail to a user.
type email struct {
	kind   string // of template
	action string // type of the link: signup, recovery, magiclink, invite, email_change; hooks get it, too
	to     string // address; the user's when empty
	code   string
	hash   string // of the link
	about  template.Data
}

// language returns the language in the user's metadata.
func language(u *store.User) string { return u.UserMetadata.Text("language") }

// sendMail writes a mail and gives it to the Mailer, in the transaction that stored its token.
func (s *Sender) sendMail(r *http.Request, tx Tx, u *store.User, m email) (err error) {
	if m.to == "" {
		m.to = u.Email
	}
	if !s.authorized(m.to) {
		return apierror.Errorf(http.StatusBadRequest, "email_address_not_authorized",
			"Email address %q cannot be used as it is not authorized", m.to)
	}
	if err := tx.tally.AllowMail(r.Context(), tx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tx.tally.MailNotSent()
		}
	}()
	unsent := apierror.Errorf(http.StatusInternalServerError, "unexpected_failure", "Error sending %s email",
		strings.ReplaceAll(m.kind, "_", " "))
	if s.Mailer == nil {
		return unsent
	}
	d := m.about
	d.SiteURL, d.Email, d.Data, d.Token, d.TokenHash = s.Config.SiteURL, u.Email, u.UserMetadata, m.code, m.hash
	d.SendingTo, d.NewEmail, d.Phone = m.to, u.EmailChange, u.Phone
	if m.hash != "" {
		d.RedirectTo = s.RedirectTo(r)
		d.ConfirmationURL = s.Link(r, m.action, m.hash, d.RedirectTo)
	}
	subject, html, err := s.Templates.Write(m.kind, language(u), d)
	if err != nil {
		return err
	}
	to := []string{m.to}
	if u.Decoy {
		to = nil
		tx.tally.SpareMail()
		if s.DirectMail {
			return nil
		}
	}
	err = s.Mailer.SendMail(r.Context(), tx, mail.Message{To: to, Subject: subject, HTML: html,
		Kind: messageKind(m.kind)})
	if errors.As(err, new(Undelivered)) {
		return unsent.WithCause(err)
	}
	return err
}

// messageKind returns GoTrue's name of a kind of mails in headers.
func messageKind(kind string) string {
	if kind == template.Reauthentication {
		return "reauthenticate"
	}
	return kind
}

// authorized reports whether mail may be sent to an address; a label (name+label@) is ignored.
func (s *Sender) authorized(address string) bool {
	if len(s.Config.Mail.Authorized) == 0 {
		return true
	}
	name, domain, _ := strings.Cut(address, "@")
	name, _, _ = strings.Cut(name, "+")
	return slices.ContainsFunc(s.Config.Mail.Authorized,
		func(a string) bool { return strings.EqualFold(a, name+"@"+domain) })
}

// externalURL returns auth's public address for a request: the configured one, on the host that the
// request names if that is one of the ExternalHosts. As in GoTrue, only localhost may do without
// TLS.
func (s *Sender) externalURL(r *http.Request) string {
	host := cmp.Or(r.Header.Get("X-Forwarded-Host"), r.URL.Hostname())
	if host == "" || !slices.Contains(s.Config.Mail.ExternalHosts, host) {
		return s.Config.ExternalURL
	}
	u, err := url.Parse(s.Config.ExternalURL)
	if err != nil {
		return s.Config.ExternalURL
	}
	u.Scheme, u.Host = "https", host
	if host == "localhost" && (r.Header.Get("X-Forwarded-Proto") == "http" || r.URL.Scheme == "http") {
		u.Scheme = "http"
	}
	return u.String()
}

// Link returns the URL of a mailed link. hash is the stored form of its token.
func (s *Sender) Link(r *http.Request, action, hash, redirect string) string {
	path := s.Config.Mail.Paths[linkPath(action)]
	externalURL := s.externalURL(r)
	base := strings.TrimSuffix(externalURL, "/") + "/verify"
	if path != "" {
		// A configured path is relative to the host, as in GoTrue.
		if external, err := url.Parse(externalURL); err == nil {
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

// RedirectTo returns the URL to which the user is sent after following a link: the one in the
// request if it is allowed, else the site.
func (s *Sender) RedirectTo(r *http.Request) string {
	for _, target := range []string{r.Header.Get("redirect_to"), r.URL.Query().Get("redirect_to"),
		r.PostForm.Get("redirect_to"), r.Referer()} {
		if target != "" && s.Redirects.Allows(target) {
			return target
		}
	}
	return s.Config.SiteURL
}

// await locks the user, so that messages follow each other, and refuses a token within gap of the
// last one.
func (s *Sender) await(ctx context.Context, tx Tx, u *store.User, t store.OneTimeToken, gap time.Duration,
	code string) error {
	if err := t.Lock(ctx, tx, u); err != nil {
		return err
	}
	_, sentAt := t.Fields(u)
	return s.Limiter.TooSoon(*sentAt, gap, code)
}

// SendLink makes a code for the user's address, stores its hash as token t and mails code and link.
func (s *Sender) SendLink(r *http.Request, tx Tx, u *store.User, t store.OneTimeToken, kind, action string,
	pkce bool) error {
	ctx := r.Context()
	if err := s.await(ctx, tx, u, t, s.Config.Mail.MaxFrequency, "over_email_send_rate_limit"); err != nil {
		return err
	}
	code := password.Code(s.Config.Mail.CodeLength)
	hash := store.HashCode(u.Email, code)
	if pkce {
		hash = store.PKCEPrefix + hash
	}
	if err := t.Save(ctx, tx, u, u.Email, hash, s.Now()); err != nil {
		return err
	}
	m := email{kind: kind, action: action, code: code, hash: hash}
	if t.Kind == store.Reauthentication.Kind {
		m.hash = "" // this mail has no link
	}
	if s.Hooks.SendEmail.Enabled() {
		return s.mailByHook(r, tx, u, emailData{Token: code, TokenHash: hash, Action: action})
	}
	return s.sendMail(r, tx, u, m)
}

// SendEmailChange mails a link to the new address, and to the current one if both must confirm.
func (s *Sender) SendEmailChange(r *http.Request, tx Tx, u *store.User, address string, pkce bool) error {
	ctx, now := r.Context(), s.Now()
	if err := s.await(ctx, tx, u, store.EmailChangeNew, s.Config.Mail.MaxFrequency,
		"over_email_send_rate_limit"); err != nil {
		return err
	}
	if err := store.BeginEmailChange(ctx, tx, u, address, now); err != nil {
		return err
	}
	prefix := ""
	if pkce {
		prefix = store.PKCEPrefix
	}
	newCodeText := password.Code(s.Config.Mail.CodeLength)
	hash := prefix + store.HashCode(address, newCodeText)
	if err := store.EmailChangeNew.Save(ctx, tx, u, address, hash, now); err != nil {
		return err
	}
	mails := []email{{kind: template.EmailChange, action: "email_change", to: address, code: newCodeText, hash: hash}}
	both := !s.Config.Mail.SingleConfirmation && u.Email != ""
	if both {
		current := password.Code(s.Config.Mail.CodeLength)
		hash := prefix + store.HashCode(u.Email, current)
		if err := store.EmailChangeCurrent.Save(ctx, tx, u, u.Email, hash, now); err != nil {
			return err
		}
		mails = append(mails, email{kind: template.EmailChange, action: "email_change", to: u.Email, code: current,
			hash: hash})
	}
	if s.Hooks.SendEmail.Enabled() {
		// GoTrue's fields are crossed: token belongs to the current address and token_hash to the
		// new one.
		data := emailData{Token: newCodeText, TokenHash: hash, Action: "email_change"}
		if both {
			data.Token, data.TokenNew, data.TokenHashNew = mails[1].code, newCodeText, mails[1].hash
		}
		return s.mailByHook(r, tx, u, data)
	}
	for _, m := range mails {
		if err := s.sendMail(r, tx, u, m); err != nil {
			return err
		}
	}
	return nil
}

// notificationName returns the name of a notification in the configuration.
func notificationName(kind string) string { return strings.TrimSuffix(kind, "_notification") }

// Notify tells the user about a change, if the installation has enabled it. A failure is logged and
// does not undo the change.
func (s *Sender) Notify(r *http.Request, tx Tx, u *store.User, kind, to string, about template.Data) {
	if to == "" {
		to = u.Email
	}
	if !s.Config.Mail.Notifications[notificationName(kind)] || to == "" {
		return
	}
	// The savepoint keeps the change if the mail fails.
	err := pgx.BeginFunc(r.Context(), tx.Tx, func(savepoint pgx.Tx) error {
		tx := Tx{savepoint, tx.tally}
		if s.Hooks.SendEmail.Enabled() {
			return s.mailByHook(r, tx, u, emailData{
				Action: kind, OldEmail: about.OldEmail, OldPhone: about.OldPhone, Provider: about.Provider,
				FactorType: about.FactorType,
			})
		}
		return s.sendMail(r, tx, u, email{kind: kind, action: kind, to: to, about: about})
	})
	if err != nil {
		s.Log.WarnContext(r.Context(), "notification not sent", "kind", kind, "error", err)
	}
}

// LinkExpiry is the lifetime of a mailed link or code.
func (s *Sender) LinkExpiry() time.Duration { return s.Config.Mail.CodeExpiry }

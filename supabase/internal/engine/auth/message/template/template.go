// Package template writes the mails of auth: from the installation's own templates if it has them,
// else from a translation in the language of the user, else from the built-in English texts.
package template

import (
	"fmt"
	htmltemplate "html/template"
	"maps"
	"strings"
	"sync"
	"text/template"
)

// Kinds of mails, named as GoTrue's templates.
const (
	Invite           = "invite"
	Confirmation     = "confirmation"
	Recovery         = "recovery"
	MagicLink        = "magic_link"
	EmailChange      = "email_change"
	Reauthentication = "reauthentication"

	PasswordChanged     = "password_changed_notification"
	EmailChanged        = "email_changed_notification"
	PhoneChanged        = "phone_changed_notification"
	IdentityLinked      = "identity_linked_notification"
	IdentityUnlinked    = "identity_unlinked_notification"
	MFAFactorEnrolled   = "mfa_factor_enrolled_notification"
	MFAFactorUnenrolled = "mfa_factor_unenrolled_notification"
)

// Data is what a template may use; the names are GoTrue's.
type Data struct {
	SiteURL, ConfirmationURL, RedirectTo string
	Email, NewEmail, SendingTo, OldEmail string
	Phone, OldPhone                      string
	Token, TokenHash                     string
	Provider, FactorType                 string
	Data                                 map[string]any // the user's metadata
}

// Text is a mail without layout. All members but Code are templates.
type Text struct {
	Subject string
	Body    string
	Action  string // label of the link; "" for a mail without a link
	Code    bool   // the mail shows the one-time code
	Note    string // last paragraph; "" for none
}

// Translations are texts by language ("fr") and kind. A kind without a translation is written in
// English.
type Translations map[string]map[string]Text

// Set holds the templates of an installation.
type Set struct {
	subjects     map[string]string
	translations Translations

	mu     sync.RWMutex
	bodies map[string]string
}

// New returns a Set of the installation's own subjects and bodies (HTML), by kind, and of
// translations of the built-in texts. It returns an error if one of them cannot be parsed, or if a
// translation has an unknown kind.
func New(subjects, bodies map[string]string, translations Translations) (*Set, error) {
	for kind, text := range subjects {
		if _, err := template.New(kind).Parse(text); err != nil {
			return nil, fmt.Errorf("subject of the mail template %s: %w", kind, err)
		}
	}
	for kind, text := range bodies {
		if _, err := htmltemplate.New(kind).Parse(text); err != nil {
			return nil, fmt.Errorf("mail template %s: %w", kind, err)
		}
	}
	builtIn := english()
	for language, texts := range translations {
		for kind, text := range texts {
			if _, ok := builtIn[kind]; !ok {
				return nil, fmt.Errorf("mail translation %s: unknown kind %q", language, kind)
			}
			if _, err := template.New(kind).Parse(text.Subject); err != nil {
				return nil, fmt.Errorf("mail translation %s, subject of %s: %w", language, kind, err)
			}
			if _, err := htmltemplate.New(kind).Parse(text.html(language)); err != nil {
				return nil, fmt.Errorf("mail translation %s, %s: %w", language, kind, err)
			}
		}
	}
	s := &Set{subjects: subjects, bodies: map[string]string{}, translations: translations}
	maps.Copy(s.bodies, bodies)
	return s, nil
}

// Replace replaces the installation's body (HTML) of a kind, unless it cannot be parsed.
func (s *Set) Replace(kind, body string) error {
	if _, err := htmltemplate.New(kind).Parse(body); err != nil {
		return fmt.Errorf("mail template %s: %w", kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[kind] = body
	return nil
}

// Write returns subject and HTML of a mail. language is the user's; a language without a
// translation gets English.
func (s *Set) Write(kind, language string, d Data) (subject, html string, err error) {
	text, ok := s.translations[language][kind]
	if !ok {
		language = "en"
		if text, ok = english()[kind]; !ok {
			return "", "", fmt.Errorf("unknown mail kind %q", kind)
		}
	}
	s.mu.RLock()
	subjectText, bodyText := s.subjects[kind], s.bodies[kind]
	s.mu.RUnlock()
	if subjectText == "" {
		subjectText = text.Subject
	}
	if bodyText == "" {
		bodyText = text.html(language)
	}
	if subject, err = fill(template.New(kind), subjectText, d); err != nil {
		return "", "", err
	}
	t, err := htmltemplate.New(kind).Parse(bodyText)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	err = t.Execute(&b, d)
	return subject, b.String(), err
}

func fill(t *template.Template, text string, d Data) (string, error) {
	parsed, err := t.Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = parsed.Execute(&b, d)
	return b.String(), err
}

// html returns the template of a mail: a heading, a paragraph, the link, the code, a note.
func (t Text) html(language string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<div lang=%q>\n<h2>%s</h2>\n<p>%s</p>\n", language, t.Subject, t.Body)
	if t.Action != "" {
		fmt.Fprintf(&b, "<p><a href=\"{{ .ConfirmationURL }}\">%s</a></p>\n", t.Action)
	}
	if t.Code {
		b.WriteString("<p><strong>{{ .Token }}</strong></p>\n")
	}
	if t.Note != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", t.Note)
	}
	b.WriteString("</div>\n")
	return b.String()
}

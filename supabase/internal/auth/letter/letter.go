// Package letter writes auth's mails: an installation's own templates where it has any, else the built-in sentences in the
// reader's language.
//
// Only auth imports it. It imports nothing of ours.
package letter

import (
	"fmt"
	htmltemplate "html/template"
	"strings"
	"text/template"
)

// Kinds of letters, named as GoTrue's templates.
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

// Writer knows an installation's own templates.
type Writer struct {
	subjects, bodies map[string]string
}

// New checks that the templates can be read. Kinds that are missing are written with the built-in sentences.
func New(subjects, bodies map[string]string) (*Writer, error) {
	w := &Writer{subjects: subjects, bodies: bodies}
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
	return w, nil
}

// Write makes subject and HTML of a letter. language is "so" for Somali; anything else is English.
func (w *Writer) Write(kind, language string, d Data) (subject, html string, err error) {
	s, ok := sentences(language)[kind]
	if !ok {
		return "", "", fmt.Errorf("there is no letter %q", kind)
	}
	subjectText, bodyText := w.subjects[kind], w.bodies[kind]
	if subjectText == "" {
		subjectText = s.subject
	}
	if bodyText == "" {
		bodyText = s.html(language)
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

// sentence is one built-in letter. Its texts are templates.
type sentence struct {
	subject string
	body    string
	action  string // label of the link; "" has none
	code    bool   // shows the code
	note    string
}

// html lays a letter out: a heading, a paragraph, the link, the code, a note. Plain enough for every reader.
func (s sentence) html(language string) string {
	var b strings.Builder
	lang := "en"
	if language == "so" {
		lang = "so"
	}
	fmt.Fprintf(&b, "<div lang=%q>\n<h2>%s</h2>\n<p>%s</p>\n", lang, s.subject, s.body)
	if s.action != "" {
		fmt.Fprintf(&b, "<p><a href=\"{{ .ConfirmationURL }}\">%s</a></p>\n", s.action)
	}
	if s.code {
		b.WriteString("<p><strong>{{ .Token }}</strong></p>\n")
	}
	if s.note != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", s.note)
	}
	b.WriteString("</div>\n")
	return b.String()
}

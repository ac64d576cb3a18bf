package template

import (
	"strings"
	"testing"
)

// translated returns made-up translations of all kinds in the language "xx".
func translated() Translations {
	out := map[string]Text{}
	for kind, text := range english() {
		text.Subject, text.Body = "xx "+text.Subject, "xx "+text.Body
		out[kind] = text
	}
	return Translations{"xx": out}
}

func TestTranslations(t *testing.T) {
	s, err := New(nil, nil, translated())
	if err != nil {
		t.Fatal(err)
	}
	d := Data{
		SiteURL: "https://example.org", ConfirmationURL: "https://example.org/verify?token=t&type=signup",
		Token: "123456",
		Email: `"><script>`, NewEmail: "new@example.org", OldEmail: "old@example.org", Phone: "252", OldPhone: "253",
		Provider: "google", FactorType: "totp",
	}
	if n := len(english()); n != 13 {
		t.Fatalf("%d built-in texts", n)
	}
	for kind := range english() {
		inEnglish, _, err := s.Write(kind, "en", d)
		if err != nil {
			t.Fatal(err)
		}
		subject, html, err := s.Write(kind, "xx", d)
		if err != nil {
			t.Fatal(err)
		}
		if subject != "xx "+inEnglish || !strings.Contains(html, `lang="xx"`) {
			t.Errorf("%s is not translated: %q", kind, subject)
		}
		if strings.Contains(html, "<script>") || strings.Contains(html, "{{") {
			t.Errorf("%s: %s", kind, html)
		}
		other, html, err := s.Write(kind, "yy", d)
		if err != nil || other != inEnglish || !strings.Contains(html, `lang="en"`) {
			t.Errorf("%s in an unknown language: %q %v", kind, other, err)
		}
	}
}

func TestBrokenTranslations(t *testing.T) {
	for name, text := range map[string]map[string]Text{
		"unknown kind": {"greeting": {}}, "subject": {Invite: {Subject: "{{"}}, "body": {Invite: {Body: "{{"}},
	} {
		if _, err := New(nil, nil, Translations{"xx": text}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestNoAddress checks that a mail has no gap where an account has no address.
func TestNoAddress(t *testing.T) {
	s, err := New(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{EmailChange, IdentityUnlinked} {
		for _, email := range []string{"", "old@example.org"} {
			_, html, err := s.Write(kind, "", Data{Email: email, NewEmail: "new@example.org", Provider: "google"})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(html, "  ") || strings.Contains(html, " .") ||
				strings.Contains(html, "new@example.org") != (kind == EmailChange) ||
				email != "" && !strings.Contains(html, email) {
				t.Error(html)
			}
		}
	}
}

func TestCustomTemplates(t *testing.T) {
	s, err := New(map[string]string{Confirmation: "Hi {{ .Data.name }}"},
		map[string]string{Confirmation: "<b>{{ .Token }} {{ .ConfirmationURL }}</b>"}, translated())
	if err != nil {
		t.Fatal(err)
	}
	subject, html, err := s.Write(Confirmation, "xx",
		Data{Token: "1", ConfirmationURL: "u", Data: map[string]any{"name": "<A>"}})
	if err != nil || subject != "Hi <A>" || html != "<b>1 u</b>" {
		t.Errorf("%q %q %v", subject, html, err)
	}
	if _, err := New(nil, map[string]string{Invite: "{{"}, nil); err == nil {
		t.Error("a broken template was accepted")
	}
}

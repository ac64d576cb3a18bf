package letter

import (
	"strings"
	"testing"
)

// TestTemplatesInBothLanguages checks that every built-in template exists in both languages and escapes its data.
func TestTemplatesInBothLanguages(t *testing.T) {
	w, err := New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Data{
		SiteURL: "https://example.org", ConfirmationURL: "https://example.org/verify?token=t&type=signup", Token: "123456",
		Email: `"><script>`, NewEmail: "new@example.org", OldEmail: "old@example.org", Phone: "252", OldPhone: "253", Provider: "google", FactorType: "totp",
	}
	if len(english()) != 13 || len(somali()) != 13 {
		t.Fatal("a template is missing in one language")
	}
	for kind := range english() {
		subjectEnglish, _, err := w.Write(kind, "en", d)
		if err != nil {
			t.Fatal(err)
		}
		subject, html, err := w.Write(kind, "so", d)
		if err != nil {
			t.Fatal(err)
		}
		if subject == subjectEnglish || !strings.Contains(html, `lang="so"`) {
			t.Errorf("%s is not translated: %q", kind, subject)
		}
		if strings.Contains(html, "<script>") || strings.Contains(html, "{{") {
			t.Errorf("%s: %s", kind, html)
		}
	}
}

// TestNoAddress checks that mails to users without an address, before or after the change, do not mention an empty address.
func TestNoAddress(t *testing.T) {
	w, err := New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []string{"en", "so"} {
		for _, kind := range []string{EmailChange, IdentityUnlinked} {
			for _, email := range []string{"", "old@example.org"} {
				_, html, err := w.Write(kind, language, Data{Email: email, NewEmail: "new@example.org", Provider: "google"})
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(html, "  ") || strings.Contains(html, " .") || strings.Contains(html, "new@example.org") != (kind == EmailChange) ||
					email != "" && !strings.Contains(html, email) {
					t.Errorf("%s: %s", language, html)
				}
			}
		}
	}
}

// TestCustomTemplates checks that configured templates replace the built-in ones, and that a malformed template is rejected.
func TestCustomTemplates(t *testing.T) {
	w, err := New(map[string]string{Confirmation: "Hi {{ .Data.name }}"}, map[string]string{Confirmation: "<b>{{ .Token }} {{ .ConfirmationURL }}</b>"})
	if err != nil {
		t.Fatal(err)
	}
	subject, html, err := w.Write(Confirmation, "so", Data{Token: "1", ConfirmationURL: "u", Data: map[string]any{"name": "<A>"}})
	if err != nil || subject != "Hi <A>" || html != "<b>1 u</b>" {
		t.Errorf("%q %q %v", subject, html, err)
	}
	if _, err := New(nil, map[string]string{Invite: "{{"}); err == nil {
		t.Error("a malformed template is accepted")
	}
}

package product

import (
	"strings"
	"testing"
)

func TestContactValues(t *testing.T) {
	for in, want := range map[string]string{"+252 61 000-0000": "252610000000", "(252)610000000": "252610000000",
		"call me": "", "12": ""} {
		if got, err := parseWhatsApp(in); got != want || (err == nil) != (want != "") {
			t.Errorf("phone %q: %q %v", in, got, err)
		}
	}
	if got, err := parseLines(" A,  pharmacist ;; B\n(nurse);"); got != "A, pharmacist\nB (nurse)" || err != nil {
		t.Errorf("lines: %q %v", got, err)
	}
	if _, err := parseLines(strings.Repeat("x", maxLines+1)); err == nil {
		t.Error("a long text is accepted")
	}
	if _, err := parseEmail("A <a@example.org>"); err == nil {
		t.Error("an address with a name is accepted")
	}
	if _, err := parseURL("javascript:alert(1)"); err == nil {
		t.Error("a script URL is accepted")
	}
}

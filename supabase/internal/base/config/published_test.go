package config

import (
	"strings"
	"testing"
)

// TestPublishedPorts checks that a container counts as local if its ports are published on loopback
// only, and as public otherwise.
func TestPublishedPorts(t *testing.T) {
	for _, tt := range []struct {
		published, site string
		loopback        bool
	}{
		{"", "", false},
		{"127.0.0.1,127.0.0.1", "http://localhost:54321", true},
		{"127.0.0.1,::1", "", true},
		{"127.0.0.1,0.0.0.0", "http://localhost:54321", false},
		{"192.0.2.1", "http://localhost:54321", false},
		{"127.0.0.1", "https://example.org", false},
	} {
		c, err := Load(Sources{Getenv: env("DAAWO_HOST", "0.0.0.0", "PUBLISHED_ON", tt.published, "SITE_URL", tt.site)})
		if err != nil {
			t.Fatal(err)
		}
		if c.Loopback() != tt.loopback {
			t.Errorf("published on %q as %q: loopback is %v", tt.published, tt.site, c.Loopback())
		}
		if !tt.loopback && !strings.Contains(c.Where(), "listening on ") &&
			!strings.Contains(c.Where(), "serving https://example.org") {
			t.Errorf("published on %q: %s", tt.published, c.Where())
		}
	}
}

// TestOtherSecrets checks that a public installation refuses well-known and short secrets of other
// services.
func TestOtherSecrets(t *testing.T) {
	for _, tt := range []struct{ published, secrets, refused string }{
		{"127.0.0.1", "insecure-local-key,850181e4652dd023b7a98c58ae0d2d34bd487ee0cc3254aed6eda37307425907", ""},
		{"0.0.0.0", "0f9bb2c7a54e41d39f5c", ""},
		{"0.0.0.0", "0f9bb2c7a54e41d39f5c,insecure-local-key", "OTHER_SECRETS: number 2"},
		{"0.0.0.0", "850181e4652dd023b7a98c58ae0d2d34bd487ee0cc3254aed6eda37307425907", "OTHER_SECRETS: number 1"},
		{"0.0.0.0", "short", "at least 16"},
	} {
		c, err := Load(Sources{Getenv: env("PUBLISHED_ON", tt.published, "OTHER_SECRETS", tt.secrets)})
		if err != nil {
			t.Fatal(err)
		}
		err = c.CheckSecrets()
		if (err != nil) != (tt.refused != "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s on %s: %v", tt.secrets, tt.published, err)
		}
	}
}

// TestMailSettings checks the values of SMTP_TLS, and that a public installation does not use the
// inbox for development.
func TestMailSettings(t *testing.T) {
	if _, err := Load(Sources{Getenv: env("SMTP_TLS", "maybe")}); err == nil ||
		!strings.Contains(err.Error(), "SMTP_TLS") {
		t.Errorf("SMTP_TLS=maybe: %v", err)
	}
	c, err := Load(Sources{Getenv: env("DAAWO_HOST", "0.0.0.0", "SITE_URL", "https://example.org", "ADMIN_EMAIL",
		"a@example.org", "SMTP_HOST", "mailpit", "SMTP_ADMIN_EMAIL", "b@example.org", "SMTP_TLS", "off")})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckPublic(); err == nil || !strings.Contains(err.Error(), "SMTP_HOST") {
		t.Errorf("mailpit on a public address: %v", err)
	}
}

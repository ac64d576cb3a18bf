package config

import (
	"net/url"
	"os"
	"strings"
	"testing"
)

// TestClusterExample checks that docker/cluster/daawo.env, with its empty variables filled in, is a
// complete public installation with three database hosts, and that it has no unused variables.
func TestClusterExample(t *testing.T) {
	text, err := os.ReadFile("../../../../docker/cluster/daawo.env")
	if err != nil {
		t.Fatal(err)
	}
	fill := map[string]string{
		"ADMIN_EMAIL": "a@example.org", "SMTP_HOST": "mail.example.org", "SMTP_ADMIN_EMAIL": "b@example.org",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if filled := fill[name]; !ok || (value == "") != (filled != "") {
			t.Errorf("%q", line)
		} else if value == "" {
			value = filled
		}
		// systemd and shells remove the quotes. Without quotes, a shell runs the text before an &
		// in the background.
		if plain := strings.Trim(value, "'"); plain != value {
			value = plain
		} else if strings.ContainsAny(value, "&;|<>()$`\\\"'* ") {
			t.Errorf("%s is not in single quotes, so a shell cannot read it: %s", name, value)
		}
		// replace the placeholder, which is rejected
		env[name] = strings.Replace(value, ":PASSWORD@", ":b1946ac92492d234@", 1)
	}
	asked := map[string]bool{}
	c, err := Load(Sources{Getenv: func(name string) (string, bool) {
		asked[name] = true
		value, ok := env[name]
		return value, ok
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckPublic(); err != nil {
		t.Error(err)
	}
	for name := range env {
		if !asked[name] {
			t.Errorf("%s is not used", name)
		}
	}
	for _, address := range []string{c.DatabaseURL, c.Replica.URL} {
		if u, err := url.Parse(address); err != nil || strings.Count(u.Host, ",") != 2 {
			t.Errorf("%s does not have three hosts: %v", address, err)
		}
	}
}

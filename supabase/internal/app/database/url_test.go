package database

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/config"
)

// TestGivenURL checks that each accepted form reaches its host as the role of a service.
func TestGivenURL(t *testing.T) {
	parse := func(text string) (*url.URL, error) {
		return config.PrimaryURL(&config.Config{Environment: config.Environment{DatabaseURL: text}})
	}
	for text, host := range map[string]string{
		"postgres://u:secret@db.example.org:5433/app":                 "db.example.org",
		"postgres://u@/app?host=/run/postgresql":                      "/run/postgresql",
		"postgres://u:secret@/app?host=%2Frun%2Fpostgresql&port=5433": "/run/postgresql",
		"postgres://u@a.example.org,b.example.org/app":                "a.example.org",
		"postgres://u@/app?host=a.example.org,b.example.org":          "a.example.org",
	} {
		u, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		c, err := pgx.ParseConfig(As(u, "authenticator"))
		if err != nil || c.Host != host || c.User != "authenticator" || c.Database != "app" {
			t.Errorf("%s: %v, host %q, user %q, database %q", text, err, c.Host, c.User, c.Database)
		}
		if several := strings.Contains(text, ","); (u.Query().Get("target_session_attrs") == "read-write") != several {
			t.Errorf("%s: parameters %s", text, u.RawQuery)
		}
	}
	for text, fact := range map[string]string{
		"": "is not a database URL", "postgres://host/app": "is not a database URL",
		"postgres://u@/app":                         "is not a database URL",
		"postgres://u@host/app?user=admin":          "user or password as a parameter",
		"postgres://u@/app?host=/s&password=secret": "user or password as a parameter",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), fact) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// PrimaryURL parses DATABASE_URL. If it names several hosts, the one that accepts writes is used.
func PrimaryURL(c *Config) (*url.URL, error) {
	return parseDatabaseURL("DATABASE_URL", c.DatabaseURL, "read-write")
}

// ReplicaURL parses DATABASE_READ_URL. If it names several hosts, a standby is preferred.
func ReplicaURL(c *Config) (*url.URL, error) {
	return parseDatabaseURL("DATABASE_READ_URL", c.Replica.URL, "prefer-standby")
}

// parseDatabaseURL parses the URL of another database server, whose host may be a socket folder in
// the parameter host. If it names several hosts and no target_session_attrs (see libpq), that
// parameter is set to session.
func parseDatabaseURL(name, text, session string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.User == nil || u.Host == "" && u.Query().Get("host") == "" {
		return nil, fmt.Errorf("%s: is not a database URL; it must look like postgres://user:password@host:5432/postgres or postgres://user:password@/postgres?host=/run/postgresql", name)
	}
	q := u.Query()
	if q.Has("user") || q.Has("password") { // these would replace the role of each service
		return nil, fmt.Errorf("%s: has user or password as a parameter; write them before the @", name)
	}
	if strings.Contains(u.Host+q.Get("host"), ",") && !q.Has("target_session_attrs") {
		q.Set("target_session_attrs", session)
		u.RawQuery = q.Encode()
	}
	return u, nil
}

// Path resolves a path of config.toml.
func (c *Config) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// Package pgmeta runs the meta engine alone, as a replacement for postgres-meta, with its
// environment variables, port and health path. Like postgres-meta it asks for no key, so its port
// must not be public.
package pgmeta

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strconv"
	"time"

	"daawo/supabase/internal/engine/meta"
)

// Config holds the settings of the environment variables.
type Config struct {
	Engine   meta.Options
	Listen   string // host:port
	Database string // URL
}

// FromEnv reads postgres-meta's variables. It ignores the ones of features that this engine does
// not have: Sentry, the formatter's worker, and generating types without a server.
func FromEnv(getenv func(string) (string, bool)) (*Config, error) {
	v := variables{getenv: getenv}
	c := &Config{
		Listen:   net.JoinHostPort(v.text("PG_META_HOST", "0.0.0.0"), strconv.Itoa(v.whole("PG_META_PORT", 1337))),
		Database: v.text("PG_META_DB_URL", ""),
	}
	c.Engine = meta.Options{
		CryptoKey:      v.secret("CRYPTO_KEY", "SAMPLE_KEY"),
		ConnectTimeout: time.Duration(v.whole("PG_CONN_TIMEOUT_SECS", 15)) * time.Second,
		QueryTimeout:   time.Duration(v.whole("PG_QUERY_TIMEOUT_SECS", 55)) * time.Second,
		MaxResult:      int64(v.whole("PG_META_MAX_RESULT_SIZE_MB", 2048)) << 20,
		MaxBody:        int64(v.whole("PG_META_MAX_BODY_LIMIT_MB", 3)) << 20,
	}
	if certificate := v.text("PG_META_DB_SSL_ROOT_CERT", ""); certificate != "" {
		c.Engine.RootCAs, c.Engine.VerifyTLS = x509.NewCertPool(), true
		if !c.Engine.RootCAs.AppendCertsFromPEM([]byte(certificate)) {
			v.fail("PG_META_DB_SSL_ROOT_CERT is not a certificate in PEM")
		}
	}
	if c.Database == "" {
		u := url.URL{Scheme: "postgresql",
			User:     url.UserPassword(v.text("PG_META_DB_USER", "postgres"), v.secret("PG_META_DB_PASSWORD", "postgres")),
			Host:     net.JoinHostPort(v.text("PG_META_DB_HOST", "localhost"), v.text("PG_META_DB_PORT", "5432")),
			Path:     "/" + v.text("PG_META_DB_NAME", "postgres"),
			RawQuery: url.Values{"sslmode": {v.text("PG_META_DB_SSL_MODE", "disable")}}.Encode()}
		c.Database = u.String()
	}
	return c, errors.Join(v.errs...)
}

type variables struct {
	getenv func(string) (string, bool)
	errs   []error
}

func (v *variables) fail(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf(format, args...))
}

func (v *variables) text(name, otherwise string) string {
	if s, ok := v.getenv(name); ok && s != "" {
		return s
	}
	return otherwise
}

// secret returns a variable, or the content of the file that the variable with _FILE names.
func (v *variables) secret(name, otherwise string) string {
	if s := v.text(name, ""); s != "" {
		return s
	}
	file := v.text(name+"_FILE", "")
	if file == "" {
		return otherwise
	}
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.fail("%s_FILE: %w", name, err)
	}
	if len(content) == 0 {
		return otherwise
	}
	return string(content)
}

func (v *variables) whole(name string, otherwise int) int {
	s := v.text(name, "")
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		v.fail("%s is not a positive integer: %q", name, s)
	}
	return n
}

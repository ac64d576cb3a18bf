package meta

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
)

// place is the database of a request.
type place interface {
	// catalog lends a session for statements of this package.
	catalog(ctx context.Context, fn func(*pool.Session) error) error
	// console lends a connection for statements of the caller.
	console(ctx context.Context, fn func(*pgconn.PgConn) error) error
}

// project is the database of the installation.
type project struct{ e *Engine }

func (p project) catalog(ctx context.Context, fn func(*pool.Session) error) error {
	return p.e.Catalog.Session(ctx, "meta", fn)
}

func (p project) console(ctx context.Context, fn func(*pgconn.PgConn) error) error {
	return p.e.Console.Console(ctx, fn)
}

// other is a database that a request names. Each request has its own connection.
type other struct{ config *pgx.ConnConfig }

func (o other) catalog(ctx context.Context, fn func(*pool.Session) error) error {
	return o.console(ctx, func(conn *pgconn.PgConn) error { return fn(pool.Unprepared(conn)) })
}

func (o other) console(ctx context.Context, fn func(*pgconn.PgConn) error) error {
	return pool.WithConsole(ctx, o.config, fn)
}

// Errors of the header x-connection-encrypted, with upstream's messages.
var (
	errNoConnection  = &requestError{http.StatusInternalServerError, "failed to get upstream connection details"}
	errBadConnection = &requestError{http.StatusInternalServerError, "failed to process upstream connection details"}
)

// place returns the database of a request.
func (e *Engine) place(r *http.Request) (place, error) {
	header := r.Header.Get("X-Connection-Encrypted")
	if header == "" {
		return project{e}, nil
	}
	if e.CryptoKey == "" {
		e.Log.WarnContext(r.Context(), "meta: a request names another database, but PG_META_CRYPTO_KEY is not set")
		return nil, errBadConnection
	}
	text, err := decrypt(header, e.CryptoKey)
	if err != nil {
		return nil, errBadConnection
	}
	address := strings.TrimSpace(string(text))
	if address == "" {
		return nil, errNoConnection
	}
	config, err := e.parse(address)
	if err != nil {
		return nil, errBadConnection
	}
	return other{config}, nil
}

// parse reads the URL of another database. As upstream, TLS is off without an sslmode, and only
// verify-full checks the certificate.
func (e *Engine) parse(address string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Hostname() == "" || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("not the URL of a database")
	}
	q := u.Query()
	mode := q.Get("sslmode")
	for _, name := range []string{"sslmode", "sslca", "sslkey", "sslcert", "sslrootcert", "service", "servicefile",
		"passfile"} {
		q.Del(name) // a caller must not name files of this machine
	}
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, err
	}
	if network, _ := pgconn.NetworkAddress(config.Host, config.Port); network != "tcp" || len(config.Fallbacks) > 0 {
		return nil, errors.New("not one server over TCP") // a socket may accept any role of this machine's user
	}
	if _, given := u.User.Password(); !given && !q.Has("password") {
		config.Password = "" // a password of PGPASSWORD or of a file is not the caller's
	}
	config.ConnectTimeout = e.ConnectTimeout
	if mode == "" && e.VerifyTLS {
		mode = "verify-full"
	}
	if mode != "" && mode != "disable" {
		// verify does the checks: Go does not accept a name outside of the alternative ones.
		config.TLSConfig = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
		if mode == "verify-full" {
			config.TLSConfig.VerifyConnection = e.verify
		}
	}
	return config, nil
}

// verify checks a server's certificate as libpq does for verify-full: its chain and its name, which
// is the common name if there are no alternative ones.
func (e *Engine) verify(state tls.ConnectionState) error {
	options := x509.VerifyOptions{Roots: e.RootCAs, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	leaf := state.PeerCertificates[0]
	if _, err := leaf.Verify(options); err != nil {
		return err
	}
	if len(leaf.DNSNames)+len(leaf.IPAddresses) == 0 && strings.EqualFold(leaf.Subject.CommonName, state.ServerName) {
		return nil
	}
	return leaf.VerifyHostname(state.ServerName)
}

// decrypt decrypts what CryptoJS encrypts with a passphrase: AES-256-CBC in OpenSSL's salted form,
// whose key and vector come from repeated MD5 sums.
func decrypt(text, passphrase string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	const mark = "Salted__"
	if len(data) < len(mark)+8+aes.BlockSize || len(data)%aes.BlockSize != 0 || string(data[:len(mark)]) != mark {
		return nil, errors.New("not encrypted with a passphrase")
	}
	salt, data := data[len(mark):len(mark)+8], data[len(mark)+8:]
	var derived, sum []byte
	for len(derived) < 32+aes.BlockSize {
		h := md5.New()
		h.Write(sum)
		h.Write([]byte(passphrase))
		h.Write(salt)
		sum = h.Sum(nil)
		derived = append(derived, sum...)
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, derived[32:32+aes.BlockSize]).CryptBlocks(plain, data)
	n := int(plain[len(plain)-1])
	if n == 0 || n > aes.BlockSize {
		return nil, errors.New("another passphrase")
	}
	for _, b := range plain[len(plain)-n:] {
		if int(b) != n {
			return nil, errors.New("another passphrase")
		}
	}
	return plain[:len(plain)-n], nil
}

package pool

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// AsPgError returns the server's error in err's chain.
func AsPgError(err error) (*pgconn.PgError, bool) {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return e, ok
}

// IsCode reports whether err is a server error with one of the SQLSTATEs (PostgreSQL documentation,
// appendix A).
func IsCode(err error, codes ...string) bool {
	e, ok := AsPgError(err)
	if !ok {
		return false
	}
	return slices.Contains(codes, e.Code)
}

// IsUnavailable reports whether a later retry can help: the pool gave no connection, the connection
// broke, or the server is starting, stopping or out of connections. The statement may have taken
// effect.
func IsUnavailable(err error) bool {
	if errors.Is(err, ErrUnavailable) {
		return true
	}
	if request := (*url.Error)(nil); errors.As(err, &request) { // of an HTTP request
		return false
	}
	if e, ok := AsPgError(err); ok {
		// 08: connection exception; 53300: too many connections; 57P01–57P03: shutting down,
		// crashed, starting; 25006: a primary that has become a standby.
		return strings.HasPrefix(e.Code, "08") || e.Code == "53300" || strings.HasPrefix(e.Code, "57P0") ||
			e.Code == "25006"
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.SafeToRetry(err) || isBrokenConnection(err)
}

// IsDiskFull reports whether the server ran out of space (SQLSTATE 53100).
func IsDiskFull(err error) bool { return IsCode(err, "53100") }

// isBrokenConnection reports whether the connection ended during a statement, for example because
// the server was killed.
func isBrokenConnection(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &op)
}

// connectError says why no connection was opened. The error of pgx lists each attempt, with TLS and
// without, and the attempt with TLS can hide the cause.
type connectError struct {
	text string
	err  error
}

func (e connectError) Error() string { return e.text }
func (e connectError) Unwrap() error { return e.err }

// explainConnect names the cause of a failed connection to a single host, if it is known, and what
// to do. It returns other errors as they are.
func explainConnect(c *pgx.ConnConfig, err error) error {
	if err == nil || len(otherHosts(c)) > 0 {
		return err
	}
	at := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	text := ""
	switch e, ok := AsPgError(err); {
	case ok && e.Code == "28P01":
		text = fmt.Sprintf("Postgres on %s refuses the password of the user %q: "+
			"correct the user or the password in the URL", at, c.User)
	case ok:
		text = fmt.Sprintf("Postgres on %s: %s", at, e.Error())
	case errors.Is(err, syscall.ECONNREFUSED):
		text = fmt.Sprintf("no Postgres listens on %s: start it, or correct the host or the port in the URL", at)
	default:
		return err
	}
	return connectError{text, err}
}

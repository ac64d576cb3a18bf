package pool

import (
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// AsPgError returns the server's error in err's chain.
func AsPgError(err error) (*pgconn.PgError, bool) {
	var e *pgconn.PgError
	ok := errors.As(err, &e)
	return e, ok
}

// IsCode reports whether err is a server error with one of the SQLSTATEs (PostgreSQL documentation,
// appendix A).
func IsCode(err error, codes ...string) bool {
	e, ok := AsPgError(err)
	if !ok {
		return false
	}
	for _, c := range codes {
		if e.Code == c {
			return true
		}
	}
	return false
}

// IsUnavailable reports whether a later retry can help: the pool gave no connection, the connection
// broke, or the server is starting, stopping or out of connections. The statement may have taken
// effect.
func IsUnavailable(err error) bool {
	if errors.Is(err, ErrUnavailable) {
		return true
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

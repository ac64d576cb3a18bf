package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
)

// TestMapDatabaseUnavailable checks the status and Retry-After of every error that means that the
// database is unavailable.
func TestMapDatabaseUnavailable(t *testing.T) {
	starting := fmt.Errorf("%w: %w", pool.ErrUnavailable, &pgconn.PgError{Code: "57P03"})
	late := fmt.Errorf("%w: %w", pool.ErrUnavailable, context.DeadlineExceeded)
	for _, c := range []struct {
		err    error
		status int
	}{
		{starting, 503},
		{fmt.Errorf("%w: connection refused", pool.ErrUnavailable), 503},
		{&pgconn.PgError{Code: "57P01"}, 503},
		{&pgconn.PgError{Code: "57P02"}, 503},
		{&pgconn.PgError{Code: "57P03"}, 503},
		{&pgconn.PgError{Code: "08006"}, 503},
		{&pgconn.PgError{Code: "25006"}, 503},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), 503}, // the server was killed
		{late, 544},
		{&pgconn.PgError{Code: "57014"}, 544},
		{&pgconn.PgError{Code: "53300"}, 429},
	} {
		err := MapDatabase(c.err)
		e, ok := apierror.AsError(err)
		if _, reply := ErrorReply(err); reply != c.status || !ok || e.Header.Get("Retry-After") == "" ||
			!errors.Is(err, c.err) {
			t.Errorf("%v: status %d, %v", c.err, reply, err)
		}
	}
	if err := MapError(io.ErrUnexpectedEOF); err != io.ErrUnexpectedEOF {
		t.Errorf("unexpected EOF of a client mapped to %v", err)
	}
}

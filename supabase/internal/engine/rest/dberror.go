package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
)

func errNoSchema() *apierror.Error {
	return apierror.Errorf(503, "PGRST002", "Could not query the database for the schema cache. Retrying.")
}

// retryWrite is the Retry-After in seconds while the server accepts no writes.
const retryWrite = "5"

// databaseError converts an error of the database to the reply that PostgREST gives. For an
// anonymous caller (anon) a missing privilege becomes 401. readOnly means that the request's
// transaction was read-only by its method.
func (e *Engine) databaseError(err error, anon, readOnly bool) error {
	if _, ok := apierror.AsError(err); ok {
		return err
	}
	pg, ok := pool.AsPgError(err)
	switch {
	case ok && pg.Code == "PGRST":
		return raised(pg)
	case ok && pg.Code == "25006" && !readOnly:
		// The server accepts no writes: its disk is nearly full, or it has become a standby.
		// PostgREST's 405 is for methods that only read.
		we := fromPostgres(pg, anon)
		we.Status = http.StatusServiceUnavailable
		return we.WithHeader("Retry-After", retryWrite)
	case ok && !errors.Is(err, pool.ErrUnavailable):
		return fromPostgres(pg, anon)
	case errors.Is(err, pool.ErrUnavailable) && errors.Is(err, context.DeadlineExceeded):
		return apierror.Errorf(504, "PGRST003",
			"Timed out acquiring connection from connection pool.").WithHeader("Retry-After", "1").WithCause(err)
	case errors.Is(err, pool.ErrUnavailable):
		return apierror.Errorf(503, "PGRST000", "Database connection error.").WithCause(err)
	case pool.IsUnavailable(err):
		return apierror.Errorf(503, "PGRST001", "Database client error. Retrying the connection.").WithCause(err)
	default:
		return err
	}
}

func fromPostgres(pg *pgconn.PgError, anon bool) *apierror.Error {
	we := &apierror.Error{Status: statusOf(pg, anon), Code: pg.Code, Message: pg.Message, Err: pg}
	if pg.Detail != "" {
		we.Details = pg.Detail
	}
	if pg.Hint != "" {
		we.Hint = &pg.Hint
	}
	if we.Status == http.StatusUnauthorized {
		we = we.WithHeader("WWW-Authenticate", "Bearer")
	}
	return we
}

// statusOf returns the status of an SQLSTATE, as PostgREST's reference lists them under "Errors
// from PostgreSQL".
func statusOf(pg *pgconn.PgError, anon bool) int {
	code, message := pg.Code, pg.Message
	switch code {
	case "23503", "23505": // foreign key, unique
		return 409
	case "25006": // read-only transaction
		return 405
	case "21000": // cardinality; the message of pg-safeupdate reports an error of the client
		if strings.HasSuffix(message, "requires a WHERE clause") {
			return 400
		}
		return 500
	case "22023": // invalid parameter, for example an unknown role
		if strings.HasPrefix(message, "role") && strings.HasSuffix(message, "does not exist") {
			return 401
		}
		return 400
	case "53400": // configuration limit
		return 500
	case "57P01": // shutdown
		return 503
	case "P0001": // raise without a code
		return 400
	case "42883": // undefined function
		if strings.HasPrefix(message, "function xmlagg(") {
			return 406
		}
		return 404
	case "42P01": // undefined table
		return 404
	case "42P17": // infinite recursion
		return 500
	case "42501": // insufficient privilege
		if anon {
			return 401
		}
		return 403
	}
	if status, ok := strings.CutPrefix(code, "PT"); ok {
		return raisedStatus(status)
	}
	return statusOfClass(code[:2])
}

// raisedStatus returns the status of a raised SQLSTATE PTxyz.
func raisedStatus(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil && n >= 200 && n <= 599 {
		return n
	}
	return 500
}

// statusOfClass returns the status of an SQLSTATE by its class, the first two characters.
func statusOfClass(class string) int {
	switch class {
	case "08", "53":
		return 503
	case "0L", "0P", "28":
		return 403
	case "09", "25", "2D", "38", "39", "3B", "40", "54", "55", "57", "58", "F0", "HV", "P0", "XX":
		return 500
	default:
		return 400
	}
}

// raised converts an error of raise sqlstate 'PGRST', whose message and detail are JSON with the
// whole reply.
func raised(pg *pgconn.PgError) *apierror.Error {
	var message struct {
		Code    *string `json:"code"`
		Message *string `json:"message"`
		Details *string `json:"details"`
		Hint    *string `json:"hint"`
	}
	var detail struct {
		Status     *int              `json:"status"`
		StatusText *string           `json:"status_text"`
		Headers    map[string]string `json:"headers"`
	}
	broken := func(details, hint string) *apierror.Error {
		e := apierror.Errorf(500, "PGRST121", `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`)
		e.Details, e.Hint, e.Err = details, &hint, pg
		return e
	}
	const detailHint = "DETAIL must be a JSON object with obligatory keys: " +
		"'status', 'headers' and optional key: 'status_text'."
	if json.Unmarshal([]byte(pg.Message), &message) != nil || message.Code == nil || message.Message == nil {
		return broken("Invalid JSON value for MESSAGE: '"+pg.Message+"'",
			"MESSAGE must be a JSON object with obligatory keys: "+
				"'code', 'message' and optional keys: 'details', 'hint'.")
	}
	if pg.Detail == "" {
		return broken("DETAIL is missing in the RAISE statement", detailHint)
	}
	if json.Unmarshal([]byte(pg.Detail), &detail) != nil || detail.Status == nil || detail.Headers == nil ||
		*detail.Status < 200 || *detail.Status > 599 {
		return broken("Invalid JSON value for DETAIL: '"+pg.Detail+"'", detailHint)
	}
	e := &apierror.Error{Status: *detail.Status, Code: *message.Code, Message: *message.Message, Hint: message.Hint,
		Err: pg}
	if message.Details != nil {
		e.Details = *message.Details
	}
	for name, value := range detail.Headers {
		e = e.WithHeader(name, value)
	}
	return e
}

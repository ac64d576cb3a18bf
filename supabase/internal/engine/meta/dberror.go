package meta

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
)

// queryError is the reply to a statement that failed: the fields of the server's message as
// node-postgres names them.
type queryError struct {
	Error            string `json:"error"`
	Length           int    `json:"length,omitempty"`
	Name             string `json:"name,omitempty"`
	Severity         string `json:"severity,omitempty"`
	Code             string `json:"code,omitempty"`
	Detail           string `json:"detail,omitempty"`
	Hint             string `json:"hint,omitempty"`
	Position         string `json:"position,omitempty"`
	InternalPosition string `json:"internalPosition,omitempty"`
	InternalQuery    string `json:"internalQuery,omitempty"`
	Where            string `json:"where,omitempty"`
	Schema           string `json:"schema,omitempty"`
	Table            string `json:"table,omitempty"`
	Column           string `json:"column,omitempty"`
	DataType         string `json:"dataType,omitempty"`
	Constraint       string `json:"constraint,omitempty"`
	File             string `json:"file,omitempty"`
	Line             string `json:"line,omitempty"`
	Routine          string `json:"routine,omitempty"`
	ResultSize       int64  `json:"resultSize,omitempty"`
	MaxResultSize    int64  `json:"maxResultSize,omitempty"`
	Message          string `json:"message"`
	FormattedError   string `json:"formattedError,omitempty"`
}

// failQuery sends the error of a statement.
func (e *Engine) failQuery(w http.ResponseWriter, r *http.Request, ctx context.Context, sql string, err error) {
	var fault *requestError
	var large *sizeError
	switch pg, ok := pool.AsPgError(err); {
	case errors.As(err, &fault):
		fail(w, fault.status, fault.message)
	case errors.As(err, &large):
		reply(w, http.StatusBadRequest, queryError{Error: large.Error(), Message: large.Error(),
			Code: "RESULT_SIZE_EXCEEDED", ResultSize: large.size, MaxResultSize: large.limit})
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reply(w, http.StatusRequestTimeout, queryError{Error: timedOut, Message: timedOut})
	case ok:
		status := http.StatusBadRequest
		if pg.Code == "53300" { // too_many_connections
			status = http.StatusServiceUnavailable
		}
		reply(w, status, serverError(pg, sql))
	default:
		e.Log.DebugContext(r.Context(), "meta: statement failed", "error", err)
		status, q := connectionError(err)
		reply(w, status, q)
	}
}

// connectionError returns the reply to an error that is not the server's.
func connectionError(err error) (int, queryError) {
	q := queryError{Message: err.Error()}
	status := http.StatusBadRequest
	var certificate x509.UnknownAuthorityError
	switch {
	case errors.As(err, &certificate):
		q.Message, q.Code = "unable to verify the first certificate", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
		if c := certificate.Cert; c != nil && c.Issuer.String() == c.Subject.String() {
			q.Message, q.Code = "self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT"
		}
	case errors.Is(err, pool.ErrUnavailable):
		status = http.StatusServiceUnavailable
	case errors.Is(err, syscall.ECONNREFUSED):
		q.Code = "ECONNREFUSED"
	case errors.Is(err, context.DeadlineExceeded):
		status, q.Message = http.StatusGatewayTimeout, "Connection terminated due to connection timeout"
	}
	q.Error = q.Message
	return status, q
}

// serverError returns the fields of an error of the server.
func serverError(pg *pgconn.PgError, sql string) queryError {
	number := func(n int32) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(int(n))
	}
	q := queryError{
		Name: "error", Severity: pg.Severity, Code: pg.Code, Message: pg.Message, Detail: pg.Detail, Hint: pg.Hint,
		Position: number(pg.Position), InternalPosition: number(pg.InternalPosition), InternalQuery: pg.InternalQuery,
		Where: pg.Where, Schema: pg.SchemaName, Table: pg.TableName, Column: pg.ColumnName, DataType: pg.DataTypeName,
		Constraint: pg.ConstraintName, File: pg.File, Line: number(pg.Line), Routine: pg.Routine,
	}
	q.Length = 4 + 1 // the message's length field and its terminator
	for _, field := range []string{q.Severity, pg.SeverityUnlocalized, q.Code, q.Message, q.Detail, q.Hint, q.Position,
		q.InternalPosition, q.InternalQuery, q.Where, q.Schema, q.Table, q.Column, q.DataType, q.Constraint, q.File,
		q.Line, q.Routine} {
		if field != "" {
			q.Length += len(field) + 2 // its type and terminator
		}
	}
	q.FormattedError = format(q, int(pg.Position), sql)
	q.Error = q.FormattedError
	return q
}

// format returns an error as psql prints it, with the line of the statement that it points to.
func format(q queryError, position int, sql string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:  %s: %s\n", q.Severity, q.Code, q.Message)
	if position > 0 {
		line, text, column := lineAt(sql, position-1)
		before := fmt.Sprintf("LINE %d: ", line)
		fmt.Fprintf(&b, "%s%s\n%s^\n", before, text, strings.Repeat(" ", max(len(before)+column, 0)))
	}
	for _, field := range []struct{ name, text string }{{"DETAIL", q.Detail}, {"HINT", q.Hint},
		{"QUERY", q.InternalQuery}, {"CONTEXT", q.Where}} {
		if field.text != "" {
			fmt.Fprintf(&b, "%s:  %s\n", field.name, field.text)
		}
	}
	return b.String()
}

// lineAt returns the line with a character of a statement: its number from 1, its text, and the
// character's place in it. A place behind the last line is line 0, as upstream.
func lineAt(sql string, position int) (number int, text string, column int) {
	start := 0
	for i, line := range strings.Split(sql, "\n") {
		n := len([]rune(line))
		if start+n > position {
			return i + 1, line, position - start
		}
		start += n + 1
	}
	return 0, "", 0
}

package meta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// queryRequest is the body of POST /query.
type queryRequest struct {
	Query      string            `json:"query"`
	Parameters []json.RawMessage `json:"parameters"`
}

// query runs the statements of a caller and replies with the rows of the last one that has any.
func (e *Engine) query(w http.ResponseWriter, r *http.Request) {
	var body queryRequest
	limits, err := e.readQuery(r, &body)
	var at place
	if err == nil {
		at, err = e.place(r)
	}
	if err != nil {
		e.failWith(w, r, err, http.StatusBadRequest)
		return
	}
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if limits.query > 0 {
		ctx, cancel = context.WithTimeout(ctx, limits.query)
	}
	defer cancel()
	var out []byte
	err = at.console(ctx, func(conn *pgconn.PgConn) error {
		if err := prepareSession(ctx, conn, r.Header.Get("X-Pg-Application-Name"), limits.statement); err != nil {
			return err
		}
		out, err = e.run(ctx, conn, body)
		return err
	})
	if err != nil {
		e.failQuery(w, r, ctx, body.Query, err)
		return
	}
	replyJSON(w, http.StatusOK, out)
}

// queryLimits are the time limits of a request: of the reply, and of each statement in the server.
type queryLimits struct{ query, statement time.Duration }

// readQuery reads the body and the time limits of a request.
func (e *Engine) readQuery(r *http.Request, body *queryRequest) (limits queryLimits, err error) {
	if err := readBody(r, body); err != nil {
		return limits, err
	}
	if body.Query == "" {
		return limits, badRequest("query not found")
	}
	limits.query = e.QueryTimeout
	for name, to := range map[string]*time.Duration{
		"queryTimeoutSecs": &limits.query, "statementTimeoutSecs": &limits.statement,
	} {
		text := r.URL.Query().Get(name)
		if text == "" {
			continue
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || seconds < 0 || seconds > 1e6 {
			return limits, badRequest(name + " must be a number of seconds")
		}
		*to = time.Duration(seconds * float64(time.Second))
	}
	return limits, nil
}

// readBody decodes the JSON body of a request.
func readBody(r *http.Request, body any) error {
	err := json.NewDecoder(r.Body).Decode(body)
	var large *http.MaxBytesError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return &requestError{http.StatusRequestEntityTooLarge, "Request body is too large"}
	case errors.Is(err, io.EOF):
		return badRequest("body must be object")
	case errors.As(err, &wrong):
		field := strings.TrimSuffix("body/"+strings.ReplaceAll(wrong.Field, ".", "/"), "/")
		return badRequest(field + " must not be " + wrong.Value)
	case err != nil:
		return badRequest("body is not valid: " + err.Error())
	}
	return nil
}

// prepareSession sets what a request asks for, for its session.
func prepareSession(ctx context.Context, conn *pgconn.PgConn, application string, statement time.Duration) error {
	set := func(name, value string) error {
		return conn.ExecParams(ctx, "select set_config($1, $2, false)", [][]byte{[]byte(name), []byte(value)},
			nil, nil, nil).Read().Err
	}
	if application != "" {
		if err := set("application_name", application); err != nil {
			return err
		}
	}
	if statement == 0 {
		return nil
	}
	limit := strconv.FormatInt(statement.Milliseconds(), 10)
	return errors.Join(set("statement_timeout", limit), set("idle_session_timeout", limit))
}

// sizeError means that the rows of a reply are larger than the limit.
type sizeError struct{ size, limit int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("Query result size (%d bytes) exceeded the configured limit (%d bytes)", e.size, e.limit)
}

// run runs the statements and returns the rows of the last one that has any.
func (e *Engine) run(ctx context.Context, conn *pgconn.PgConn, body queryRequest) ([]byte, error) {
	last := []byte("[]")
	if len(body.Parameters) > 0 {
		args, err := textParameters(body.Parameters)
		if err != nil {
			return nil, badRequest(err.Error())
		}
		result := conn.ExecParams(ctx, body.Query, args, nil, nil, nil)
		return last, e.read(result, &last, new(int64))
	}
	results := conn.Exec(ctx, body.Query)
	var size int64
	for results.NextResult() {
		if err := e.read(results.ResultReader(), &last, &size); err != nil {
			var large *sizeError
			if errors.As(err, &large) {
				_ = conn.Close(context.WithoutCancel(ctx)) // the rest of the rows is not wanted
			}
			_ = results.Close() // returns err again
			return nil, err
		}
	}
	return last, results.Close()
}

// jsonFactor times MaxResult is the largest JSON of a result: each row repeats the names of its
// columns, which the size of the values does not count.
const jsonFactor = 4

// read encodes the rows of a result into *last if it has any.
func (e *Engine) read(result *pgconn.ResultReader, last *[]byte, size *int64) error {
	r := newRows(result.FieldDescriptions())
	for result.NextRow() {
		values := result.Values()
		for _, v := range values {
			*size += int64(4 + len(v))
		}
		if *size > e.MaxResult {
			return &sizeError{*size, e.MaxResult}
		}
		r.add(values)
		if n := int64(len(r.out)); n > jsonFactor*e.MaxResult {
			return &sizeError{n, jsonFactor * e.MaxResult}
		}
	}
	if _, err := result.Close(); err != nil {
		return err
	}
	if r.n > 0 {
		*last = r.json()
	}
	return nil
}

// textParameters returns the parameters as node-postgres sends them, in text format.
func textParameters(raw []json.RawMessage) ([][]byte, error) {
	out := make([][]byte, len(raw))
	for i, value := range raw {
		text, null, err := textParameter(value)
		if err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
		if !null {
			out[i] = []byte(text)
		}
	}
	return out, nil
}

// textParameter returns the text of one parameter. A list becomes an array, an object stays JSON.
func textParameter(raw json.RawMessage) (text string, null bool, err error) {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case 'n':
		return "", true, nil
	case '"':
		err := json.Unmarshal(raw, &text)
		return text, false, err
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return "", false, err
		}
		text, err := textArray(list)
		return text, false, err
	case '{':
		var compact bytes.Buffer
		err := json.Compact(&compact, raw)
		return compact.String(), false, err
	case 't', 'f':
		return string(raw), false, nil
	}
	return numberText(string(raw)), false, nil
}

// numberText returns a number as JavaScript writes it; an integer stays as it is.
func numberText(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if f >= 1e21 || f <= -1e21 || f != 0 && f < 1e-6 && f > -1e-6 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// textArray returns the text form of an array.
func textArray(list []json.RawMessage) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, raw := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		text, null, err := textParameter(raw)
		switch {
		case err != nil:
			return "", err
		case null:
			b.WriteString("NULL")
		case bytes.TrimSpace(raw)[0] == '[':
			b.WriteString(text)
		default:
			b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`)
		}
	}
	b.WriteByte('}')
	return b.String(), nil
}

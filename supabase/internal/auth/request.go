package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/wire"
)

// readJSON decodes the body. GoTrue ignores members that it does not know, and so do we.
func readJSON(r *http.Request, into any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return badJSON(err)
	}
	return nil
}

// readAddress reads a body that holds an address, and brings the address into its stored form.
func readAddress(r *http.Request, into any, address *string) error {
	err := readJSON(r, into)
	if err == nil {
		*address, err = validEmail(*address)
	}
	return err
}

func badJSON(err error) error {
	return wire.Errorf(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON: %v", err)
}

// readBody reads the body and leaves it for the next reader.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, wire.Errorf(http.StatusRequestEntityTooLarge, "request_entity_too_large", "Request body too large (max %d bytes)", tooLarge.Limit)
		}
		return nil, wire.Errorf(http.StatusBadRequest, "bad_json", "Could not read the request body").WithCause(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// databaseError words a failure of the database. What the database's author raised for the client is shown to it.
func databaseError(err error, message string) error {
	pg, ok := db.AsPgError(err)
	if !ok {
		return err
	}
	status := 0
	switch pg.Code {
	case "P0001", "23000", "23001", "23502", "23503", "23505", "23514", "23P01":
		status = http.StatusInternalServerError
	default:
		if rest, ok := strings.CutPrefix(pg.Code, "PT"); ok { // as PostgREST has it
			status, _ = strconv.Atoi(rest)
		}
	}
	if status < 400 || status > 599 {
		return wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "%s", message).WithCause(err)
	}
	return (&wire.Error{
		Status: status, Code: pg.Code, Message: pg.Message,
		Details: wire.AuthDatabase{Hint: pg.Hint, Detail: pg.Detail, Plain: message},
	}).WithCause(err)
}

// send answers with JSON.
func send(w http.ResponseWriter, status int, v any) error {
	wire.WriteAuthJSON(w, status, v)
	return nil
}

// client is what a session remembers of the program that began it.
type client struct{ userAgent, address string }

func clientOf(r *http.Request) client {
	c := client{userAgent: r.UserAgent()}
	// The gateway replaces this header by what it believes.
	address, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if address = strings.TrimSpace(address); address == "" {
		address, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	if net.ParseIP(address) != nil {
		c.address = address
	}
	return c
}

// inTx runs fn in one transaction. An error that is refused is returned after the commit.
func inTx[T any](ctx context.Context, pool *db.Pool, fn func(pgx.Tx) (T, error)) (T, error) {
	var out T
	var kept refused
	err := pool.Tx(ctx, db.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var err error
		out, err = fn(tx)
		if errors.As(err, &kept) {
			return nil
		}
		return err
	})
	if err == nil && kept.err != nil {
		err = kept.err
	}
	return out, err
}

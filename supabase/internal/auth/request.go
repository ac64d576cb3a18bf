package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/wire"
)

// readJSON decodes the body. GoTrue ignores members that it does not know, and so do we.
func readJSON(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return wire.Errorf(http.StatusRequestEntityTooLarge, "request_entity_too_large", "Request body too large (max %d bytes)", tooLarge.Limit)
		}
		return wire.Errorf(http.StatusBadRequest, "bad_json", "Could not read the request body").WithCause(err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return wire.Errorf(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON: %v", err)
	}
	return nil
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
func inTx[T any](ctx context.Context, e *Engine, fn func(pgx.Tx) (T, error)) (T, error) {
	var out T
	var kept refused
	err := e.db.Tx(ctx, db.Caller{}, pgx.TxOptions{}, func(tx pgx.Tx) error {
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

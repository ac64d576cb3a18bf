// Package endpoint holds what the endpoints of auth share: reading bodies, checking contacts and code challenges, paging,
// replies and redirects.
//
// Only auth imports it. Of ours it imports wire.
package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"daawo/supabase/internal/wire"
)

// jsonText is JSON that Postgres made.
type RawText string

// MarshalJSON passes it on.
func (t RawText) MarshalJSON() ([]byte, error) { return json.RawMessage(t).MarshalJSON() }

// handler answers a request or says why not.
type Handler = func(http.ResponseWriter, *http.Request) error

// readJSON decodes the body. GoTrue ignores members that it does not know, and so do we.
func ReadJSON(r *http.Request, into any) error {
	body, err := ReadBody(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return BadJSON(err)
	}
	return nil
}

// readAddress reads a body that holds an address, and brings the address into its stored form.
func ReadEmail(r *http.Request, into any, address *string) error {
	err := ReadJSON(r, into)
	if err == nil {
		*address, err = ValidEmail(*address)
	}
	return err
}

func BadJSON(err error) error {
	return wire.Errorf(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON: %v", err)
}

// readBody reads the body and leaves it for the next reader.
func ReadBody(r *http.Request) ([]byte, error) {
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

// send answers with JSON.
func SendJSON(w http.ResponseWriter, status int, v any) error {
	wire.WriteAuthJSON(w, status, v)
	return nil
}

// client is what a session remembers of the program that began it.
type Client struct{ UserAgent, Address string }

func ClientOf(r *http.Request) Client {
	c := Client{UserAgent: r.UserAgent()}
	// The gateway replaces this header by what it believes.
	address, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if address = strings.TrimSpace(address); address == "" {
		address, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	if net.ParseIP(address) != nil {
		c.Address = address
	}
	return c
}

// errUnexpected is what a person who was led here is told of a failure of ours; the log has it.
var ErrUnexpected = wire.Errorf(http.StatusInternalServerError, "unexpected_failure", "Unexpected failure, please check server logs for more information")

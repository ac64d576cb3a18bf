// Package endpoint holds what the endpoints of auth share: reading bodies, checking contacts and
// code challenges, paging, replies and redirects.
package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"daawo/supabase/internal/base/apierror"
)

// RawText is JSON from Postgres.
type RawText string

// MarshalJSON returns the text as it is.
func (t RawText) MarshalJSON() ([]byte, error) { return json.RawMessage(t).MarshalJSON() }

// Handler serves a request. It replies itself or returns the error to reply with.
type Handler = func(http.ResponseWriter, *http.Request) error

// ReadJSON decodes the body. Unknown members are ignored, as in GoTrue.
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

// ReadEmail decodes a body that holds an e-mail address, a member of into, and brings the address
// into its stored form.
func ReadEmail(r *http.Request, into any, address *string) error {
	err := ReadJSON(r, into)
	if err == nil {
		*address, err = ValidEmail(*address)
	}
	return err
}

// BadJSON returns the reply to a body that is not the expected JSON.
func BadJSON(err error) error {
	return apierror.Errorf(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON: %v", err)
}

// ReadBody reads the body and leaves it readable for the next reader.
func ReadBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, apierror.Errorf(http.StatusRequestEntityTooLarge, "request_entity_too_large",
				"Request body too large (max %d bytes)", tooLarge.Limit)
		}
		return nil, apierror.Errorf(http.StatusBadRequest, "bad_json", "Could not read the request body").WithCause(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// SendJSON replies with JSON.
func SendJSON(w http.ResponseWriter, status int, v any) error {
	writeJSON(w, status, v)
	return nil
}

// Client describes the program that sent a request.
type Client struct{ UserAgent, Address string }

// ClientOf returns the client of a request. Address is "" if it is unknown.
func ClientOf(r *http.Request) Client {
	c := Client{UserAgent: r.UserAgent()}
	// The gateway overwrites this header.
	address, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
	if address = strings.TrimSpace(address); address == "" {
		address, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	if net.ParseIP(address) != nil {
		c.Address = address
	}
	return c
}

// ErrUnexpected is what a redirect says about an internal failure, which is in the log.
var ErrUnexpected = apierror.Errorf(http.StatusInternalServerError, "unexpected_failure",
	"Unexpected failure, please check server logs for more information")

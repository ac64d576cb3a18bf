package storage

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/engine/storage/objects"
)

// call is one request to a route of the REST API.
type call struct {
	w             http.ResponseWriter
	r             *http.Request
	bucket        string // first variable of the route
	name          string // rest of the path, decoded
	caller        objects.Caller
	authenticated bool // the request has a valid token
}

// access is the kind of token that a route requires.
type access int

const (
	unauthenticated access = iota // tokens are ignored: public and signed URLs
	optional                      // without a valid token the caller is anonymous
	required                      // an Authorization header with a valid token
	tokenRequired                 // like required, but a missing header has no error of its own (TUS)
	service                       // like required, and the role must be service_role
)

// authorize verifies the token and sets the caller.
func (e *Engine) authorize(c *call, a access, operation string) error {
	c.caller = objects.Caller{Headers: c.r.Header, Method: c.r.Method, Path: c.r.URL.RequestURI(), Operation: operation}
	if a == unauthenticated {
		c.caller = c.caller.Service()
		return nil
	}
	header, present := c.r.Header["Authorization"]
	if !present && !e.MissingIsEmpty && (a == required || a == service) {
		return invalid("headers must have required property 'authorization'")
	}
	token := ""
	if present {
		token = bearer(header[0])
	}
	c.caller.Role, c.caller.Claims = "anon", `{"role":"anon"}`
	if token == "" && a == optional {
		return nil
	}
	claims, err := e.verifier.Verify(token)
	if err != nil {
		if a == optional {
			return nil
		}
		return objects.ErrDenied(tokenError(err)).WithCause(err)
	}
	c.authenticated = true
	c.caller.Token, c.caller.Subject, c.caller.Claims = token, claims.Subject, string(claims.Raw)
	if claims.Role != "" {
		c.caller.Role = claims.Role
	}
	if a == service && claims.Role != "service_role" {
		e := objects.ErrDenied("Access denied: Invalid role")
		e.Details = objects.ErrorDetails{Error: "Unauthorized", Reply: http.StatusForbidden}
		return e
	}
	return nil
}

// bearer returns the token of an Authorization header, with or without the scheme Bearer.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimLeft(token, " \t")
	}
	return header
}

// tokenError returns the message of storage-api's JWT library.
func tokenError(err error) string {
	switch {
	case errors.Is(err, keys.ErrExpired):
		return `"exp" claim timestamp check failed`
	case errors.Is(err, keys.ErrNotYet):
		return `"nbf" claim timestamp check failed`
	case errors.Is(err, keys.ErrSignature):
		return "signature verification failed"
	case errors.Is(err, keys.ErrAlgorithm), errors.Is(err, keys.ErrKey):
		return `"alg" (Algorithm) Header Parameter value not allowed`
	}
	return "Invalid Compact JWS"
}

// fail sends an error and logs it if it is a server error.
func (e *Engine) fail(c *call, err error) {
	if body, _ := objects.ErrorReply(err); body.StatusCode[0] == '5' && c.r.Context().Err() == nil {
		e.log.ErrorContext(c.r.Context(), "storage: request failed", "method", c.r.Method, "operation",
			c.caller.Operation, "error", err)
	}
	writeError(c.w, err)
}

// writeError replies with err as storage-api does.
func writeError(w http.ResponseWriter, err error) {
	body, reply := objects.ErrorReply(err)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if e, ok := apierror.AsError(err); ok {
		for name, values := range e.Header {
			w.Header()[name] = values
		}
	}
	data, _ := encode(body) // strings cannot fail
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(reply)
	w.Write(data)
}

// send writes a JSON reply with status 200.
func (c *call) send(v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	c.sendJSON(data)
	return nil
}

// sendJSON writes a reply with status 200.
func (c *call) sendJSON(data []byte) {
	h := c.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(data))) // else net/http sends more than 2 KiB in chunks
	c.w.WriteHeader(http.StatusOK)
	c.w.Write(data)
}

// message writes a JSON reply that has only a message.
func (c *call) message(text string) error {
	return c.send(struct {
		Message string `json:"message"`
	}{text})
}

// flag reports whether the header is exactly "true".
func (c *call) flag(header string) bool { return c.r.Header.Get(header) == "true" }

// encode is json.Marshal without HTML escaping.
func encode(v any) ([]byte, error) {
	var b jsonBuffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// decode decodes the percent encoding of a path segment. It returns an invalid encoding unchanged.
func decode(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

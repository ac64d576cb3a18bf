package storage

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"
)

// call is one request on its way through a handler.
type call struct {
	e      *Engine
	w      http.ResponseWriter
	r      *http.Request
	bucket string // first variable of the route
	name   string // the rest of the path, decoded
	caller objects.Caller
	// authenticated: the request came with a valid token.
	authenticated bool
}

// access says whose rights a route has.
type access int

const (
	open      access = iota // nobody's token is looked at: public and signed URLs
	optional                // a missing or bad token makes the caller anonymous
	required                // a header is a must, and so is a valid token
	anonymous               // a valid token is a must, but a missing header has no error of its own (TUS)
	service                 // required, and only service_role
)

// authorize fills the caller.
func (c *call) authorize(a access, operation string) error {
	c.caller = objects.Caller{Headers: c.r.Header, Method: c.r.Method, Path: c.r.URL.RequestURI(), Operation: operation}
	if a == open {
		c.caller = c.caller.Service()
		return nil
	}
	header, present := c.r.Header["Authorization"]
	if !present && !c.e.MissingIsEmpty && (a == required || a == service) {
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
	claims, err := c.e.verifier.Verify(token)
	if err != nil {
		if a == optional {
			return nil
		}
		return objects.ErrDenied(tokenProblem(err)).WithCause(err)
	}
	c.authenticated = true
	c.caller.Token, c.caller.Subject, c.caller.Claims = token, claims.Subject, string(claims.Raw)
	if claims.Role != "" {
		c.caller.Role = claims.Role
	}
	if a == service && claims.Role != "service_role" {
		e := objects.ErrDenied("Access denied: Invalid role")
		e.Details = wire.StorageDetails{Error: "Unauthorized", Reply: http.StatusForbidden}
		return e
	}
	return nil
}

func bearer(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimLeft(token, " \t")
	}
	return header
}

// tokenProblem gives the sentences of storage-api's JWT library.
func tokenProblem(err error) string {
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

// send writes a JSON reply.
func (c *call) send(v any) error {
	return c.sendStatus(http.StatusOK, v)
}

func (c *call) sendStatus(status int, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(status)
	c.w.Write(data)
	return nil
}

// message is the reply of actions that have nothing else to say.
func (c *call) message(text string) error {
	return c.send(struct {
		Message string `json:"message"`
	}{text})
}

// flag reads a header that counts only when it is exactly true.
func (c *call) flag(header string) bool { return c.r.Header.Get(header) == "true" }

// decode undoes percent encoding in a part of the path; what is no encoding stays as it is.
func decode(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}

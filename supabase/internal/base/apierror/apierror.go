// Package apierror has the Error type that the rest, auth and storage engines return. Each engine
// encodes it in the dialect of its upstream.
package apierror

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is an error that a client may see. The engine that returns it encodes it as status, headers
// and body.
type Error struct {
	Status  int    // HTTP status of the reply (storage-api sends most of its errors as 400 and this as statusCode)
	Code    string // the dialect's own code: "PGRST116", "bad_jwt", "NoSuchBucket", or an SQLSTATE
	Message string // one sentence for the user
	// PostgREST's details: nil, a string or a JSON value. The other engines have types for it.
	Details any
	Hint    *string     // PostgREST's hint; nil is sent as null
	Header  http.Header // further reply headers, such as WWW-Authenticate or Retry-After
	Err     error       // the cause, for the log; never sent
}

// Error returns the code, the message and the cause, for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a formatted message.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithCause returns a copy of e with the cause err.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.Err = err
	return &c
}

// WithHeader returns a copy of e with one more reply header.
func (e *Error) WithHeader(name, value string) *Error {
	c := *e
	c.Header = e.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	c.Header.Set(name, value)
	return &c
}

// AsError returns the Error in err's chain.
func AsError(err error) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok
}

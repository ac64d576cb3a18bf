// Package wire holds what the three engines share about HTTP: one Error type, one encoder of it for each
// upstream dialect (rest.go, auth.go, storage.go) and the parsing of headers that more than one engine reads.
//
// Only auth, rest and storage import it; it imports nothing of ours.
package wire

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is a failure that may be shown to a client. Every engine returns it, and the encoder of the dialect that the
// client speaks turns it into status, headers and body. Err is the cause: it is logged and never sent.
type Error struct {
	Status  int         // HTTP status of the reply (storage-api sends most of its errors as 400 and this as statusCode)
	Code    string      // the dialect's own code: "PGRST116", "bad_jwt", "NoSuchBucket", or an SQLSTATE
	Message string      // one sentence for people
	Details any         // PostgREST's details: nil, a string or a JSON value; the storage dialect puts its error name here
	Hint    *string     // PostgREST's hint; nil is sent as null
	Header  http.Header // further reply headers, such as WWW-Authenticate or Retry-After
	Err     error       // the cause, for the log
}

// Error names the code and the message, and the cause where there is one. It is written for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a formatted message.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithCause returns a copy of e that carries err for the log.
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

// AsError finds the Error in err's chain.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

package edge

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Error is an error for the caller. The host sends it as {"code", "message", "fields"} with its
// status. Err is the cause; it is only logged.
type Error struct {
	Status  int
	Code    string            // for programs, such as "validation_failed"
	Message string            // one sentence for people, in the language of the caller
	Fields  map[string]string // messages by field; nil if no field is wrong
	Header  http.Header       // further reply headers
	Err     error
}

// Errorf returns an Error with a formatted message.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// TooMany returns an Error with status 429 and Retry-After, rounded up to seconds.
func TooMany(after time.Duration) *Error {
	e := Errorf(http.StatusTooManyRequests, "too_many_requests", "Too many requests. Please try again later.")
	e.Header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(after.Seconds())))}}
	return e
}

// Error returns the text for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%d %s: %s: %v", e.Status, e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// MarshalJSON returns the body of the reply.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string            `json:"code"`
		Message string            `json:"message"`
		Fields  map[string]string `json:"fields,omitempty"`
	}{e.Code, e.Message, e.Fields})
}

// Write sends the error as a reply.
func (e *Error) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), e.Header)
	_ = WriteJSON(w, e.Status, e)
}

// AsError returns the first Error in the chain of err.
func AsError(err error) (*Error, bool) {
	e, ok := errors.AsType[*Error](err)
	return e, ok
}

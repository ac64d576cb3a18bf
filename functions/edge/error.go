package edge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Error is a failure that the caller may see. It is sent as {"code", "message", "fields"} with its status; Err is the
// cause, for the log only.
type Error struct {
	Status  int
	Code    string            // for programs: "validation_failed"
	Message string            // one sentence for people, in the caller's language
	Fields  map[string]string // messages by field, where the fault lies in some
	Header  http.Header       // further reply headers
	Err     error
}

// Errorf makes an Error without fields.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// TooMany is 429 with Retry-After, rounded up to whole seconds.
func TooMany(after time.Duration) *Error {
	e := Errorf(http.StatusTooManyRequests, "too_many_requests", "Too many requests. Please try again later.")
	e.Header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(after.Seconds())))}}
	return e
}

// Error is the text for the log.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%d %s: %s: %v", e.Status, e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// MarshalJSON is the wire form.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string            `json:"code"`
		Message string            `json:"message"`
		Fields  map[string]string `json:"fields,omitempty"`
	}{e.Code, e.Message, e.Fields})
}

// Write sends the error.
func (e *Error) Write(w http.ResponseWriter) {
	for name, values := range e.Header {
		w.Header()[name] = values
	}
	_ = WriteJSON(w, e.Status, e)
}

// AsError finds the Error in err's chain.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

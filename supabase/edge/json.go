package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// ReadJSON decodes the body of a request into a T. The content type must be JSON. Unknown fields
// and data after the value are errors. Its errors are of type *Error, with status 415, 413 or 400
// and a message for the caller.
func ReadJSON[T any](r *http.Request) (T, error) {
	var v, zero T
	if ct := r.Header.Get("Content-Type"); ct != "" {
		kind, _, err := mime.ParseMediaType(ct)
		if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
			return zero, Errorf(http.StatusUnsupportedMediaType, "not_json",
				"The body must be JSON (Content-Type: application/json).")
		}
	}
	body, err := ReadBody(r)
	if err != nil {
		return zero, err
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return zero, badJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return zero, badJSON(errors.New("there is something after the JSON value"))
	}
	return v, nil
}

// ReadBody reads the whole body. It returns an *Error with status 413 if the body is larger than
// Func.MaxBody, and with 400 if it ends too early.
func ReadBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	return body, nil
}

// bodyError returns the Error of a body that is too long or ended too early.
func bodyError(err error) error {
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Errorf(http.StatusRequestEntityTooLarge, "body_too_large", "The body is larger than %d bytes.",
			tooLong.Limit)
	}
	return &Error{Status: http.StatusBadRequest, Code: "bad_body", Message: "The body could not be read.", Err: err}
}

func badJSON(err error) *Error {
	e := &Error{Status: http.StatusBadRequest, Code: "bad_json", Err: err}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "The JSON body is empty or cut off."
	case errors.As(err, &kind) && kind.Field != "":
		e.Message = fmt.Sprintf("The field %q must not be a %s.", kind.Field, kind.Value)
	case errors.As(err, &kind):
		e.Message = fmt.Sprintf("The JSON body must not be a %s.", kind.Value)
	case errors.As(err, &syntax):
		e.Message = fmt.Sprintf("The JSON body has an error at byte %d.", syntax.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		e.Message = "The JSON body has an unknown field: " + strings.TrimPrefix(err.Error(), "json: unknown field ") +
			"."
	default:
		e.Message = "The JSON body is not valid: " + err.Error() + "."
	}
	return e
}

// WriteJSON sends v as JSON with a status.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a closed connection is not an error of the function
	return nil
}

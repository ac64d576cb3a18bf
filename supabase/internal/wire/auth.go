package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// AuthVersionHeader names the version of the error shape that a client of GoTrue understands.
const AuthVersionHeader = "X-Supabase-Api-Version"

// authVersion is the only dated shape there is; any later date means it, too.
const authVersion = "2024-01-01"

// WeakPassword is what an Error of the auth dialect carries in Details when a password is refused.
type WeakPassword struct {
	Reasons []string `json:"reasons,omitempty"` // length, characters, pwned
}

// AuthOAuth in Details makes the answer that of RFC 6749, section 5.2: Code as error, Message as its description, status
// 400, whatever the version.
type AuthOAuth struct{}

// AuthDatabase in Details marks a database error that its author meant for the client (raise exception): the code is its
// SQLSTATE. Only the old shape shows it; the dated one says Plain.
type AuthDatabase struct{ Hint, Detail, Plain string }

// authBodyOld is the shape without a version: code is the HTTP status.
type authBodyOld struct {
	Code      int           `json:"code"`
	ErrorCode string        `json:"error_code"`
	Message   string        `json:"msg"`
	Weak      *WeakPassword `json:"weak_password,omitempty"`
}

// authBody is the shape of 2024-01-01.
type authBody struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Weak    *WeakPassword `json:"weak_password,omitempty"`
}

type authBodyOAuth struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

type authBodyDatabase struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// WriteAuthError answers a request with err in GoTrue's dialect, in the shape that the request's version header asks for.
// An error that is no Error shows nothing of itself.
func WriteAuthError(w http.ResponseWriter, r *http.Request, err error) {
	e, known := AsError(err)
	if !known {
		e = Errorf(http.StatusInternalServerError, "", "Unexpected failure, please check server logs for more information")
	}
	h := w.Header()
	for name, values := range e.Header {
		h[name] = values
	}
	dated := authDated(r.Header.Get(AuthVersionHeader))
	if dated {
		h.Set(AuthVersionHeader, authVersion)
	}
	status := e.Status
	if _, ok := e.Details.(AuthOAuth); ok {
		status = http.StatusBadRequest
	}
	WriteAuthJSON(w, status, authShape(e, dated, h))
}

// AppendAuthError writes the body of an error behind what has been answered already.
func AppendAuthError(w http.ResponseWriter, r *http.Request, e *Error) {
	text, err := json.Marshal(authShape(e, authDated(r.Header.Get(AuthVersionHeader)), http.Header{}))
	if err == nil {
		_, _ = w.Write(text) // the client may be gone
	}
}

func authShape(e *Error, dated bool, h http.Header) any {
	weak, _ := e.Details.(*WeakPassword)
	if value, ok := e.Details.(WeakPassword); ok {
		weak = &value
	}
	switch d := e.Details.(type) {
	case AuthOAuth:
		return authBodyOAuth{e.Code, e.Message}
	case AuthDatabase:
		h.Set("X-Sb-Error-Code", "unexpected_failure")
		if !dated {
			return authBodyDatabase{e.Code, e.Message, d.Hint, d.Detail}
		}
		return authBody{Code: "unexpected_failure", Message: d.Plain}
	}
	// One error in one shape goes without this header: its reader looks into the body.
	if e.Code != "" && (weak == nil || !dated) {
		h.Set("X-Sb-Error-Code", e.Code)
	}
	code := e.Code
	switch {
	case code == "" && e.Status == http.StatusInternalServerError:
		code = "unexpected_failure"
	case code == "":
		code = "unknown"
	}
	if dated {
		return authBody{code, e.Message, weak}
	}
	return authBodyOld{e.Status, code, e.Message, weak}
}

// WriteAuthJSON answers with v. What cannot be encoded is a programming error, answered with 500.
func WriteAuthJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"code":500,"error_code":"unexpected_failure","msg":"Unexpected failure, please check server logs for more information"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}

func authDated(version string) bool {
	t, err := time.Parse(time.DateOnly, version)
	return err == nil && !t.Before(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
}

package apierror

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// AuthVersionHeader is the header with the version of GoTrue's error format that a client
// understands.
const AuthVersionHeader = "X-Supabase-Api-Version"

// authVersion is the only version of the error format. Later dates also select it.
const authVersion = "2024-01-01"

// WeakPassword is the Details of an auth Error for a refused password.
type WeakPassword struct {
	Reasons []string `json:"reasons,omitempty"` // length, characters, pwned
}

// AuthOAuth is the Details of an Error that has the format of RFC 6749, section 5.2, in every
// version: Code as error, Message as error_description, status 400.
type AuthOAuth struct{}

// AuthDatabase is the Details of a database error for the client (raise exception). Its Code is the
// SQLSTATE. The format without a version shows the error; the dated format has the message Plain
// instead.
type AuthDatabase struct{ Hint, Detail, Plain string }

// authBodyOld is the format without a version. Code is the HTTP status.
type authBodyOld struct {
	Code      int           `json:"code"`
	ErrorCode string        `json:"error_code"`
	Message   string        `json:"msg"`
	Weak      *WeakPassword `json:"weak_password,omitempty"`
}

// authBody is the format of 2024-01-01.
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

// WriteAuthError replies with err in GoTrue's dialect, in the format of the request's version
// header. For an error that is not an Error it replies with a general message.
func WriteAuthError(w http.ResponseWriter, r *http.Request, err error) {
	e, known := AsError(err)
	if !known {
		e = Errorf(http.StatusInternalServerError, "",
			"Unexpected failure, please check server logs for more information")
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
	WriteAuthJSON(w, status, authFormat(e, dated, h))
}

// AppendAuthError writes the body of an error after a reply that has been written already.
func AppendAuthError(w http.ResponseWriter, r *http.Request, e *Error) {
	text, err := json.Marshal(authFormat(e, authDated(r.Header.Get(AuthVersionHeader)), http.Header{}))
	if err == nil {
		_, _ = w.Write(text) // the client may have disconnected
	}
}

func authFormat(e *Error, dated bool, h http.Header) any {
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
	// Dated weak password errors have no such header, as in GoTrue; clients read the body.
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

// WriteAuthJSON replies with v as JSON. It replies with 500 if v cannot be encoded.
func WriteAuthJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError,
			[]byte(`{"code":500,"error_code":"unexpected_failure","msg":"Unexpected failure, please check server logs for more information"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}

func authDated(version string) bool {
	t, err := time.Parse(time.DateOnly, version)
	return err == nil && !t.Before(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
}

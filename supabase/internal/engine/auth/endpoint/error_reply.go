package endpoint

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/internal/base/apierror"
)

// versionHeader is the header with the version of GoTrue's error format that a client understands.
const versionHeader = "X-Supabase-Api-Version"

// errorVersion is the only version of the error format. Later dates also select it.
const errorVersion = "2024-01-01"

// WeakPassword is the Details of the error of a refused password.
type WeakPassword struct {
	Reasons []string `json:"reasons,omitempty"` // length, characters, pwned
}

// OAuthFormat is the Details of an error that has the format of RFC 6749, section 5.2, in every
// version: Code as error, Message as error_description.
type OAuthFormat struct{}

// DatabaseFormat is the Details of a database error for the client (raise exception). Its Code is
// the SQLSTATE. The format without a version shows the error; the dated format has the message
// Plain instead.
type DatabaseFormat struct{ Hint, Detail, Plain string }

// undatedError is the format without a version. Code is the HTTP status.
type undatedError struct {
	Code      int           `json:"code"`
	ErrorCode string        `json:"error_code"`
	Message   string        `json:"msg"`
	ErrorID   string        `json:"error_id,omitempty"` // of an error of the server, as in the log
	Weak      *WeakPassword `json:"weak_password,omitempty"`
}

// datedError is the format of 2024-01-01.
type datedError struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Weak    *WeakPassword `json:"weak_password,omitempty"`
}

type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

type databaseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// WriteError replies with err as GoTrue does, in the format of the request's version header. An
// error that is not an apierror.Error is sent as ErrUnexpected. id names an error of the server.
func WriteError(w http.ResponseWriter, r *http.Request, err error, id string) {
	e, known := apierror.AsError(err)
	if !known {
		e = apierror.Errorf(http.StatusInternalServerError, "", "%s", ErrUnexpected.Message)
	}
	h := w.Header()
	for name, values := range e.Header {
		h[name] = values
	}
	dated := isDated(r.Header.Get(versionHeader))
	if dated {
		h.Set(versionHeader, errorVersion)
	}
	body := errorBody(e, dated, h)
	if u, ok := body.(undatedError); ok && e.Status >= http.StatusInternalServerError {
		u.ErrorID = id
		body = u
	}
	writeJSON(w, e.Status, body)
}

// AppendError writes the body of an error after a reply that has been written already.
func AppendError(w http.ResponseWriter, r *http.Request, e *apierror.Error) {
	text, err := json.Marshal(errorBody(e, isDated(r.Header.Get(versionHeader)), http.Header{}))
	if err == nil {
		_, _ = w.Write(text) // the client may have disconnected
	}
}

// errorBody returns the body of the reply to e and sets its headers in h.
func errorBody(e *apierror.Error, dated bool, h http.Header) any {
	var weak *WeakPassword
	switch d := e.Details.(type) {
	case WeakPassword:
		weak = &d
	case OAuthFormat:
		return oauthError{e.Code, e.Message}
	case DatabaseFormat:
		h.Set("X-Sb-Error-Code", "unexpected_failure")
		if !dated {
			return databaseError{e.Code, e.Message, d.Hint, d.Detail}
		}
		return datedError{Code: "unexpected_failure", Message: d.Plain}
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
		return datedError{code, e.Message, weak}
	}
	return undatedError{Code: e.Status, ErrorCode: code, Message: e.Message, Weak: weak}
}

// writeJSON replies with v as JSON. It replies with 500 if v cannot be encoded.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"code":500,"error_code":"unexpected_failure",`+
			`"msg":"Unexpected failure, please check server logs for more information"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}

// isDated reports whether a version header selects the format of 2024-01-01.
func isDated(version string) bool {
	t, err := time.Parse(time.DateOnly, version)
	return err == nil && !t.Before(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
}

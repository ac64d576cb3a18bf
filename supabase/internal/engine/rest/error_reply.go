package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"daawo/supabase/internal/base/apierror"
)

// errorBody is PostgREST's error object, with the keys in PostgREST's order.
type errorBody struct {
	Code    string  `json:"code"`
	Details any     `json:"details"`
	Hint    *string `json:"hint"`
	Message string  `json:"message"`
}

// ErrorBody encodes e as PostgREST does. minimal omits details and hint (client-error-verbosity).
func ErrorBody(e *apierror.Error, minimal bool) []byte {
	var body any = errorBody{e.Code, e.Details, e.Hint, e.Message}
	if minimal {
		body = struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}{e.Code, e.Message}
	}
	b, err := marshalPlain(body)
	if err != nil { // a programming error: the details are not a JSON value
		b, _ = marshalPlain(errorBody{Code: e.Code, Message: e.Message})
	}
	return b
}

// writeError replies with e as PostgREST does.
func writeError(w http.ResponseWriter, e *apierror.Error, minimal bool) {
	body := ErrorBody(e, minimal)
	h := w.Header()
	maps.Copy(h, e.Header)
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Proxy-Status", "PostgREST; error="+e.Code)
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the client may have disconnected
}

// marshalPlain encodes v without escaping <, > and &.
func marshalPlain(v any) ([]byte, error) {
	var b plainBuffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	return b, err
}

type plainBuffer []byte

func (b *plainBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

package host

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"daawo/supabase/edge"
)

// refusal is a reply with status 401 and Supabase's body and header.
type refusal struct{ code, message string }

func (f *refusal) write(w http.ResponseWriter) {
	w.Header().Set("X-Relay-Error", "true") // functions-js turns it into a FunctionsRelayError
	Fail(w, http.StatusUnauthorized, f.code, f.message)
}

// RequireToken refuses requests without a valid token, as a hosted function does, before they reach
// next, which runs functions elsewhere. needs reports whether a function requires one.
func RequireToken(verify func(token string) (json.RawMessage, error), needs func(function string) bool,
	next http.Handler) http.Handler {
	h := &Host{Options: Options{Verify: verify}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if r.Method != http.MethodOptions && needs(name) {
			if _, refusal := h.caller(r); refusal != nil {
				refusal.write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// caller returns the caller of a request from the token in Authorization. If that is missing or an
// opaque key, it uses the token to which the gateway mapped the key (sb-api-key), or maps the key
// itself.
func (h *Host) caller(r *http.Request) (edge.Caller, *refusal) {
	anonymous := edge.Caller{Role: "anon"}
	token, wrong := bearer(r.Header.Get("Authorization"))
	if token == "" || strings.HasPrefix(token, "sb_") {
		mapped := h.mapped(r, token)
		if mapped == "" && wrong == nil {
			wrong = &refusal{"UNAUTHORIZED_INVALID_API_KEY", "Invalid API key"}
		}
		if token = mapped; token == "" {
			return anonymous, wrong
		}
	}
	invalid := &refusal{"UNAUTHORIZED_INVALID_JWT", "Invalid JWT"}
	if strings.Count(token, ".") != 2 {
		invalid.code = "UNAUTHORIZED_INVALID_JWT_FORMAT"
		return anonymous, invalid
	}
	if h.Verify == nil {
		return anonymous, invalid
	}
	claims, err := h.Verify(token)
	if err != nil {
		return anonymous, invalid
	}
	var c struct {
		Role string `json:"role"`
		Sub  string `json:"sub"`
	}
	if err := json.Unmarshal(claims, &c); err != nil {
		return anonymous, invalid
	}
	c.Role = cmp.Or(c.Role, "anon")
	return edge.Caller{Role: c.Role, Subject: c.Sub, Claims: claims, Token: token}, nil
}

// mapped returns the role token of an opaque key, "" if there is none.
func (h *Host) mapped(r *http.Request, key string) string {
	if token := r.Header.Get("Sb-Api-Key"); token != "" {
		return strings.TrimPrefix(token, "Bearer ")
	}
	if h.APIKey == nil {
		return ""
	}
	if key == "" {
		key = r.Header.Get("Apikey")
	}
	token, ok := h.APIKey(key)
	if !ok {
		return ""
	}
	return token
}

// bearer returns the token of an Authorization header.
func bearer(header string) (string, *refusal) {
	if header == "" {
		return "", &refusal{"UNAUTHORIZED_NO_AUTH_HEADER", "Missing authorization header"}
	}
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || scheme != "Bearer" {
		return "", &refusal{"UNAUTHORIZED_INVALID_AUTH_HEADER", "Auth header is not 'Bearer {token}'"}
	}
	return strings.TrimSpace(token), nil
}

package rest

import (
	"net/http"
	"slices"
	"strings"
)

const exposedHeaders = "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, " +
	"Transfer-Encoding, Range-Unit"

// cors adds the CORS headers. It returns true if the request was a preflight, which it has then
// answered.
func (s *state) cors(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	allowed := s.config.CORSOrigins
	if len(allowed) > 0 && !slices.Contains(allowed, origin) {
		return false
	}
	h := w.Header()
	if len(allowed) == 0 {
		h.Set("Access-Control-Allow-Origin", "*")
	} else {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
		return false
	}
	accepted := []string{"Authorization"}
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			accepted = append(accepted, name)
		}
	}
	// The simple headers are always allowed; the list names them too.
	accepted = append(accepted, "Accept", "Accept-Language", "Content-Language")
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD")
	h.Set("Access-Control-Allow-Headers", strings.Join(accepted, ", "))
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusOK)
	return true
}

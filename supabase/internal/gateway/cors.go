package gateway

import (
	"net/http"
	"strings"
)

// exposed are the reply headers that a page of another origin may read: those of supabase-js and tus-js-client by name, for
// browsers that do not know the asterisk, and with it all, for a function has headers of its own. The asterisk counts where no
// credentials are sent, and none are here (Fetch standard, "CORS protocol and credentials").
const exposed = "Content-Range, Content-Profile, Preference-Applied, Location, Retry-After, X-Total-Count, Link, " +
	"X-Request-Id, X-Relay-Error, X-Relay-Header, Sb-Error-Code, X-Sb-Error-Code, X-Supabase-Api-Version, " +
	"Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, ETag, *"

// cors answers preflights itself and puts one set of CORS headers on every reply of the API. Any origin may call: what
// a caller may do is decided by its key, and no cookie is ever read. A service's own CORS headers are replaced.
func (g *gateway) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
			if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
				h.Set("Access-Control-Allow-Headers", asked)
			}
			h.Set("Access-Control-Max-Age", "3600")
			h.Add("Vary", "Access-Control-Request-Headers")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if re, ok := w.(*reply); ok {
			re.before(setCORS)
		}
		next.ServeHTTP(w, r)
	})
}

// setCORS replaces the CORS headers that a service has put on its reply, but for the methods and headers that it allows:
// a function may answer an OPTIONS request which is no preflight by itself.
func setCORS(h http.Header, _ int) {
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") && name != "Access-Control-Allow-Headers" && name != "Access-Control-Allow-Methods" {
			h.Del(name)
		}
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposed)
}

package gateway

import (
	"net/http"
	"strings"
)

// exposedHeaders are the reply headers that a page of another origin may read. Old browsers do not
// support *, so it also lists the headers that supabase-js and tus-js-client need. * covers the
// headers of functions; it works for requests without credentials (Fetch standard, "CORS protocol
// and credentials"), and the API uses no credentials.
const exposedHeaders = "Content-Range, Content-Profile, Preference-Applied, Location, Retry-After, X-Total-Count, " +
	"Link, X-Request-Id, X-Relay-Error, X-Relay-Header, Sb-Error-Code, X-Sb-Error-Code, X-Supabase-Api-Version, " +
	"Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, Tus-Resumable, Tus-Version, Tus-Extension, " +
	"Tus-Max-Size, ETag, *"

// cors answers preflight requests and sets the CORS headers of every API reply, replacing the
// service's. It allows any origin, because access depends on keys and tokens and the API reads no
// cookies.
func cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h := w.Header()
			h.Set("Access-Control-Allow-Origin", "*")
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
			if requested := r.Header.Get("Access-Control-Request-Headers"); requested != "" {
				h.Set("Access-Control-Allow-Headers", requested)
			}
			h.Set("Access-Control-Max-Age", "3600")
			h.Add("Vary", "Access-Control-Request-Headers")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if re, ok := w.(*reply); ok {
			re.onHeader(setCORS)
		}
		next.ServeHTTP(w, r)
	})
}

// setCORS replaces the CORS headers of a service. It keeps the allowed methods and headers, because
// a function may answer an OPTIONS request that is not a preflight.
func setCORS(h http.Header, _ int) {
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") && name != "Access-Control-Allow-Headers" &&
			name != "Access-Control-Allow-Methods" {
			h.Del(name)
		}
	}
	h["Access-Control-Allow-Origin"] = []string{"*"}
	h["Access-Control-Expose-Headers"] = []string{exposedHeaders}
}

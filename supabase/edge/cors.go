package edge

import (
	"maps"
	"net/http"
)

// CORSHeaders returns the headers that let browsers call a function from any origin: corsHeaders of
// @supabase/supabase-js/cors 2.109.
func CORSHeaders() http.Header {
	return http.Header{
		"Access-Control-Allow-Origin":  {"*"},
		"Access-Control-Allow-Headers": {"authorization, x-client-info, apikey, content-type, x-retry-count"},
		"Access-Control-Allow-Methods": {"GET, POST, PUT, PATCH, DELETE, OPTIONS"},
	}
}

// CORS returns a handler that answers preflight requests and adds CORSHeaders to all replies of
// next. Use it when Func.Methods is empty or has OPTIONS; otherwise the host does the same.
func CORS(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, env *Env) error {
		maps.Copy(w.Header(), CORSHeaders())
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return next(w, r, env)
	}
}

package edge

import "net/http"

// CORSHeaders returns the headers that let any origin's supabase-js call a function: the values of corsHeaders in
// @supabase/supabase-js/cors 2.109.
func CORSHeaders() http.Header {
	return http.Header{
		"Access-Control-Allow-Origin":  {"*"},
		"Access-Control-Allow-Headers": {"authorization, x-client-info, apikey, content-type, x-retry-count"},
		"Access-Control-Allow-Methods": {"GET, POST, PUT, PATCH, DELETE, OPTIONS"},
	}
}

// CORS answers preflights and adds CORSHeaders to every reply of a handler whose Func answers OPTIONS itself.
func CORS(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, env *Env) error {
		for name, values := range CORSHeaders() {
			w.Header()[name] = values
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return next(w, r, env)
	}
}

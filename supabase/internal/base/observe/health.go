package observe

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Check returns nil if a part is ready to serve, or the reason why not.
type Check func(context.Context) error

// Live serves /healthz: the process is running, in any state of its parts.
func Live() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
}

// Ready serves /readyz: 200 if every check passes within two seconds, else 503 with the names of
// the failing checks. The reasons go only to the log.
func Ready(checks map[string]Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		type result struct {
			name string
			err  error
		}
		results := make(chan result, len(checks))
		for name, check := range checks {
			go func() { results <- result{name, check(ctx)} }()
		}
		status, states := http.StatusOK, map[string]string{}
		for range checks {
			res := <-results
			states[res.name] = "ok"
			if res.err != nil {
				status, states[res.name] = http.StatusServiceUnavailable, "failing"
			}
		}
		if status != http.StatusOK {
			w.Header().Set("Retry-After", "1")
		}
		writeJSON(w, status, map[string]any{"status": http.StatusText(status), "checks": states})
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}

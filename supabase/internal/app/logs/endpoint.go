package logs

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Handler serves Logflare's endpoints that Studio asks, below /api/endpoints/query/, to callers
// with the key in X-Api-Key.
func (s *Store) Handler(key func() string) http.Handler {
	mux := http.NewServeMux()
	for name, statement := range map[string]func(*http.Request) string{
		"logs.all":         func(r *http.Request) string { return r.FormValue("sql") },
		"usage.api-counts": apiCounts,
		"usage.api-requests-count": func(*http.Request) string {
			return "select count(*) as count from edge_logs"
		},
	} {
		mux.HandleFunc("/api/endpoints/query/"+name, func(w http.ResponseWriter, r *http.Request) {
			start, end, err := s.window(r)
			if err != nil {
				answer(w, nil, err)
				return
			}
			result, err := s.Query(r.Context(), statement(r), start, end)
			answer(w, result, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, nil, fmt.Errorf("this server's logs have no such report"))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Api-Key")), []byte(key())) != 1 {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// window returns the times that a request asks for; by default the kept day.
func (s *Store) window(r *http.Request) (start, end time.Time, err error) {
	end = s.now()
	start = end.Add(-keepFor)
	for name, to := range map[string]*time.Time{"iso_timestamp_start": &start, "iso_timestamp_end": &end} {
		if given := r.FormValue(name); given != "" {
			t, ok := toTime(given)
			if !ok {
				return start, end, fmt.Errorf("%s: %q is no time", name, given)
			}
			*to = t
		}
	}
	return start, end, nil
}

// apiCounts returns the statement of the charts of the home page.
func apiCounts(r *http.Request) string {
	unit := "hour"
	if slices.Contains([]string{"15min", "30min", "1hr", "minutely"}, r.FormValue("interval")) {
		unit = "minute"
	}
	return `select timestamp_trunc(t.timestamp, ` + unit + `) as timestamp,
		countif(starts_with(request.path, '/auth/')) as total_auth_requests,
		countif(starts_with(request.path, '/rest/')) as total_rest_requests,
		countif(starts_with(request.path, '/storage/')) as total_storage_requests,
		countif(starts_with(request.path, '/realtime/')) as total_realtime_requests
		from edge_logs t cross join unnest(metadata) as m cross join unnest(m.request) as request
		group by timestamp order by timestamp`
}

// answer sends rows, or an error in Logflare's form.
func answer(w http.ResponseWriter, result []map[string]any, err error) {
	w.Header().Set("Content-Type", "application/json")
	body := map[string]any{"result": result, "error": nil}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		body = map[string]any{"error": map[string]string{"message": err.Error()}}
	}
	_ = json.NewEncoder(w).Encode(body) // plain values; the client may have disconnected
}

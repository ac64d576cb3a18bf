package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"
)

// ChildSocket is the number of the file that a child process inherits: its listening socket. The
// child may not make one.
const ChildSocket = 3

// ChildConfig is the configuration of a child process. The parent writes it as a line of JSON to
// the child's standard input. Further lines replace Keys and Env. The end of the input ends the
// child.
type ChildConfig struct {
	Parent   string            `json:"parent"` // address of ParentServer, with a password
	Database string            `json:"database"`
	Keys     json.RawMessage   `json:"keys"` // JWK array that verifies tokens
	Env      map[string]string `json:"env"`
	EnvFile  string            `json:"-"`        // functions/.env, which child.Start reads
	Hide     func(http.Header) `json:"-"`        // takes from a call what the process may not learn; nil for nothing
	FileEnv  map[string]string `json:"file_env"` // its variables
	Declared map[string]string `json:"declared"` // variables that the program declares for functions
	Region   string            `json:"region"`
	Webhook  bool              `json:"webhook"`  // notices go to the webhook, too
	Spans    bool              `json:"spans"`    // the parent exports spans
	Draining bool              `json:"draining"` // another process serves new calls: keep no idle connections
	Limited  bool              `json:"limited"`  // whether clients are limited, by X-Forwarded-For
}

// traceOf returns the context of a request with its trace.
func traceOf(r *http.Request) context.Context {
	return tracing.WithTraceparent(r.Context(), r.Header.Get("Traceparent"))
}

// ChildHandler returns the handler for the private socket of a child. The parent also starts
// scheduled work and jobs there.
func (h *Host) ChildHandler() http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, err error) {
		if err != nil {
			if snooze, ok := errors.AsType[edge.SnoozeError](err); ok {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(snooze.After.Seconds()))))
			}
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("GET /_internal/describe", func(w http.ResponseWriter, _ *http.Request) {
		_ = edge.WriteJSON(w, http.StatusOK, h.Describe()) // the parent reports a broken connection
	})
	mux.HandleFunc("GET /_internal/check", func(w http.ResponseWriter, r *http.Request) {
		if err := h.CheckHealth(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_ = edge.WriteJSON(w, http.StatusOK, struct{}{})
	})
	mux.HandleFunc("POST /_internal/schedule/{name}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, h.RunSchedule(traceOf(r), r.PathValue("name")))
	})
	mux.HandleFunc("POST /_internal/job/{name}/{job}", func(w http.ResponseWriter, r *http.Request) {
		args, err := io.ReadAll(r.Body)
		if err == nil {
			err = h.RunJob(traceOf(r), r.PathValue("name"), r.PathValue("job"), args)
		}
		reply(w, err)
	})
	mux.Handle("/", h)
	return mux
}

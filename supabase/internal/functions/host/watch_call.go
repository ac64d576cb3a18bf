package host

import (
	"cmp"
	"log/slog"
	"net/http"
)

// WatchCall lets a process answer a call. It counts and logs the call if the function is known:
// unknown names must not become values of labels.
func (h *Host) WatchCall(w http.ResponseWriter, r *http.Request, name string, known bool, next http.Handler,
	log *slog.Logger) {
	if !known {
		next.ServeHTTP(w, r)
		return
	}
	start := h.Now()
	watched := &watchedReply{ResponseWriter: w}
	complete := false
	defer func() {
		status := watched.status
		if !complete { // the process ended during the reply
			status = http.StatusInternalServerError
		}
		h.observeCall(log, r, name, w.Header().Get("Sb-Request-Id"), status, h.Now().Sub(start))
	}()
	next.ServeHTTP(watched, r)
	complete = true
}

// watchedReply records the status of a reply.
type watchedReply struct {
	http.ResponseWriter
	status int
}

func (w *watchedReply) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedReply) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *watchedReply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

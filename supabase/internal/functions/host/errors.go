package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	"daawo/supabase/edge"

	"github.com/robfig/cron/v3"
)

// statusWorkerLimit is Supabase's status for a worker that exceeds a resource limit.
const statusWorkerLimit = 546

// Fail sends an error of the host.
func Fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Sb-Error-Code", code)
	writeBody(w, status, code, message)
}

// writeBody writes an error as Supabase's relay does. Older clients read msg.
func writeBody(w http.ResponseWriter, status int, code, message string) {
	body, _ := json.Marshal(struct { // strings never fail
		Code    string `json:"code"`
		Message string `json:"message"`
		Msg     string `json:"msg"`
	}{code, message, message})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// NotFound sends the reply for an unknown function.
func NotFound(w http.ResponseWriter) {
	Fail(w, http.StatusNotFound, "NOT_FOUND", "Requested function was not found")
}

// internal serves the paths of the official runtime below /_internal.
func (h *Host) internal(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/_internal/health" {
		NotFound(w)
		return
	}
	_ = edge.WriteJSON(w, http.StatusOK, map[string]string{"message": "ok"})
}

var functionName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) // as in the official CLI

// check returns an error if a function cannot work, so that the start fails and not its first call.
func check(name string, f edge.Func) error {
	if !functionName.MatchString(name) {
		return fmt.Errorf("function %q: a name begins with a letter and has letters, digits, - and _ only", name)
	}
	if f.JSON != nil && f.JSON.Err() != nil {
		return fmt.Errorf("function %q: %w", name, f.JSON.Err())
	}
	if f.Handler == nil && f.Schedule == "" && len(f.Jobs) == 0 {
		return fmt.Errorf("function %q has no handler, schedule or job", name)
	}
	if (f.Schedule == "") != (f.Run == nil) {
		return fmt.Errorf("function %q: Schedule and Run belong together", name)
	}
	for job, j := range f.Jobs {
		if j.Priority < 0 || j.Priority > 4 || j.MaxAttempts < 0 {
			return fmt.Errorf("function %q: job %q: a priority is 1 to 4 and a number of attempts is positive", name,
				job)
		}
	}
	if f.Schedule != "" {
		if _, err := cron.ParseStandard(f.Schedule); err != nil {
			return fmt.Errorf("function %q: schedule %q: %w", name, f.Schedule, err)
		}
	}
	return nil
}

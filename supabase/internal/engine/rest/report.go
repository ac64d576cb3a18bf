package rest

import (
	"net/http"

	"daawo/supabase/internal/base/apierror"
)

// Report describes a request and its reply, for a log. A CORS preflight has none.
type Report struct {
	Role    string          // "" if the token was refused or is missing
	Status  int             // of the reply
	Length  int64           // of the reply's body
	Err     *apierror.Error // of an error reply, otherwise nil
	Queries []string        // the SQL of the request, with Config.LogQuery
	Legacy  [][2]string     // relations that the URL refers to by name although they have an alias, and the alias
}

// recorder is a ResponseWriter that fills in the status and the length of a Report.
type recorder struct {
	http.ResponseWriter
	report Report
}

func (w *recorder) WriteHeader(status int) {
	w.report.Status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.report.Length += int64(n)
	return n, err
}

// Unwrap returns the writer below, for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

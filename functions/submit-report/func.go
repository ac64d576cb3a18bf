// Package submitreport accepts reports of harmful or suspect products: as JSON from the site's
// script, or as a post of the HTML form from a browser without JavaScript. One transaction stores
// the report, its idempotency record and the notification job; the reply is sent after the commit.
//
// Only functions.All imports it.
package submitreport

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/edge"
)

// Func accepts requests without an API key: a plain HTML form cannot send one.
var Func = edge.Func{
	Methods:       []string{http.MethodPost, http.MethodGet},
	NoVerifyJWT:   true,
	Timeout:       30 * time.Second,
	MaxBody:       32 << 20, // more than a photo may have, so that the reply can be the form with a message
	MaxConcurrent: 32,
	MaxBodyMemory: 32 << 20, // a form post holds its photo in memory; the others wait in files of the gateway
	MaxWaiting:    1000,
	MaxWait:       10 * time.Second,
	Handler:       handle,
	JSON:          jsonReport,
	Refused:       refused,
	Jobs: map[string]edge.Job{
		// Several, so that a photo whose transfer hangs does not hold up the others; they decode
		// one after the other.
		cleanPhotoJob: {Run: cleanPhoto, MaxConcurrent: 4},
	},
	Schedule: "7 * * * *",
	Run:      enqueueMissed,
}

// maxJSON is the limit of a JSON body in bytes: several times the longest fields, all escaped.
const maxJSON = 1 << 20

// reportsPerHour is the limit per client. It is high because all users behind a carrier's NAT,
// perhaps a whole town, count as one client.
const reportsPerHour = 600

// repetitionsPerHour is how often a client may request the receipt of a stored report again.
const repetitionsPerHour = 600

// jsonReport is the form of the function that the site's script calls.
var jsonReport = edge.JSON(acceptJSON)

func handle(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	switch {
	case r.Method == http.MethodGet:
		return showReference(w, r)
	case edge.IsForm(r):
		return handleForm(w, r, env)
	default:
		return handleJSON(w, r, env)
	}
}

func handleJSON(w http.ResponseWriter, r *http.Request, env *edge.Env) error {
	text := textIn(languageOf(r, ""))
	w.Header().Set("Content-Language", text.Language)
	r.Body = http.MaxBytesReader(w, r.Body, maxJSON)
	if err := jsonReport.Serve(w, r, env); err != nil {
		return text.translate(err)
	}
	return nil
}

func acceptJSON(r *http.Request, env *edge.Env, fields Fields) (receipt, error) {
	text := textIn(languageOf(r, ""))
	report, wrong := fields.check(text, false)
	if len(wrong) > 0 {
		return receipt{}, &edge.Error{Status: http.StatusBadRequest, Code: "validation_failed",
			Message: text.problem(wrong), Fields: wrong}
	}
	report.photoClaim = r.Header.Get(claimHeader)
	key, err := keyOf(r.Context(), env, r.Header.Get("Idempotency-Key"), report, "")
	if err != nil {
		return receipt{}, err
	}
	return save(r.Context(), env, report, key, true)
}

// refused replies with a page to a form that the function host rejects. It does not read the
// fields; the browser still has them.
func refused(w http.ResponseWriter, r *http.Request, status int) bool {
	if !edge.IsForm(r) {
		return false
	}
	p := unread(r)
	message, wrong := p.text.failed, map[string]string(nil)
	if status == http.StatusRequestEntityTooLarge {
		message, wrong = p.text.photoTooLarge, map[string]string{"photo": p.text.photoTooLarge}
	}
	return p.show(w, status, p.text.failedTitle, message, wrong) == nil
}

// limit counts the report against its client. REPORTS_PER_HOUR changes the limit for end-to-end
// tests.
func limit(ctx context.Context, env *edge.Env, b *edge.Batch) {
	most := reportsPerHour
	if n, err := strconv.Atoi(env.Get("REPORTS_PER_HOUR")); err == nil && n > 0 {
		most = n
	}
	b.Limit(ctx, "reports", most, time.Hour)
}

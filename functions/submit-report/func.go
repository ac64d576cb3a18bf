// Package submitreport takes a report of a harmful or suspect product: as JSON from the site's script, or as the plain
// post of its HTML form where there is no script. The report, the record that makes a retry safe and the notification job
// are one transaction, and the reply leaves after its commit.
//
// Only functions.All imports it.
package submitreport

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"daawo/functions/edge"
)

// Func is open to everybody: a plain HTML form can send no key.
var Func = edge.Func{
	Methods:       []string{http.MethodPost, http.MethodGet},
	NoVerifyJWT:   true,
	Timeout:       30 * time.Second,
	MaxBody:       32 << 20, // a photo beyond its 5 MB, too: the form comes back and says so
	MaxConcurrent: 32,       // a form post holds its photo in memory
	MaxWaiting:    1000,
	MaxWait:       10 * time.Second,
	Handler:       handle,
	Refused:       refused,
	Jobs: map[string]edge.Job{
		// Decoding a picture may take 256 MB: one at a time, so that several do not use up a small server's memory.
		cleanPhotoJob: {Run: cleanPhoto, MaxConcurrent: 1},
	},
}

// maxJSON is the bytes of a report in JSON, which is held in memory: several times the longest fields, all escaped.
const maxJSON = 1 << 20

// reportsPerHour is the limit of one client. A carrier's shared address counts as one client, so it is generous.
const reportsPerHour = 60

// repetitionsPerHour is how often a client may ask again for the receipt of a report that is stored already.
const repetitionsPerHour = 600

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
	w.Header().Set("Content-Language", text.language)
	r.Body = http.MaxBytesReader(w, r.Body, maxJSON)
	fields, err := edge.ReadJSON[Fields](r)
	if err != nil {
		return text.translate(err)
	}
	report, wrong := fields.check(text, false)
	if len(wrong) > 0 {
		return &edge.Error{Status: http.StatusBadRequest, Code: "validation_failed", Message: text.problem(wrong), Fields: wrong}
	}
	key, err := keyOf(r.Context(), env, r.Header.Get("Idempotency-Key"), report, "")
	if err != nil {
		return text.translate(err)
	}
	receipt, err := save(r.Context(), env, report, key, true)
	if err != nil {
		return text.translate(err)
	}
	return edge.WriteJSON(w, http.StatusOK, receipt)
}

// refused answers a form that the host cannot let in with a page. What was typed is not read: the browser still has it.
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

// limit counts the report against its client. REPORTS_PER_HOUR changes the limit, for tests of the whole.
func limit(ctx context.Context, env *edge.Env, b *edge.Batch) {
	most := reportsPerHour
	if n, err := strconv.Atoi(env.Get("REPORTS_PER_HOUR")); err == nil && n > 0 {
		most = n
	}
	b.Limit(ctx, "reports", most, time.Hour)
}

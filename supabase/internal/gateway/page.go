package gateway

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// failedPage is read by a visitor whose browser posted the report's form without a script. Which language is hers is not
// known here; the sentences are the form's own.
const failedPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Submission Failed · Gudbintu way fashilantay</title>
<main>
<h1>Submission Failed</h1>
<p>Please try again or contact us directly.</p>
<p><a href="/report/">Report a product</a> · <a href="/contact/">Contact us</a></p>
<div lang="so">
<h2>Gudbintu way fashilantay</h2>
<p>Fadlan mar kale isku day ama si toos ah noola soo xiriir.</p>
<p><a href="/so/report/">Soo sheeg badeecad</a> · <a href="/so/contact/">Nala soo xiriir</a></p>
</div>
</main>
</html>
`

// readsPages says whether a browser itself posts a form and will show the answer. Scripts ask for no HTML.
func readsPages(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Method == http.MethodPost && (kind == "multipart/form-data" || kind == "application/x-www-form-urlencoded") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// errorBody is what an answer of the gateway's own holds: a page where one is read, else JSON with the fields that the
// clients of all services look for.
func errorBody(w http.ResponseWriter, message string) (contentType string, body []byte) {
	if re, ok := w.(*reply); ok && re.page {
		re.Header().Set("Cache-Control", "no-store")
		return "text/html; charset=utf-8", []byte(failedPage)
	}
	body, _ = json.Marshal(map[string]string{"message": message, "msg": message}) // strings always marshal
	return "application/json", append(body, '\n')
}

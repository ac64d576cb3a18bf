package gateway

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// defaultFormErrorPage is Options.FormErrorPage when the installation has none.
const defaultFormErrorPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Request failed</title>
<main>
<h1>Request failed</h1>
<p>Please go back and try again.</p>
</main>
</html>
`

// isFormPost reports whether a browser posts a form and will show the reply as a page. Scripts do
// not accept text/html.
func isFormPost(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Method == http.MethodPost &&
		(kind == "multipart/form-data" || kind == "application/x-www-form-urlencoded") &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// errorBody returns the content of the gateway's own error replies: the form error page for a form
// post, otherwise JSON with the fields that the clients of all services read.
func errorBody(w http.ResponseWriter, message string) (contentType string, body []byte) {
	if re, ok := w.(*reply); ok && re.formErrorPage != nil {
		re.Header().Set("Cache-Control", "no-store")
		return "text/html; charset=utf-8", re.formErrorPage
	}
	body, _ = json.Marshal(map[string]string{"message": message, "msg": message}) // strings always marshal
	return "application/json", append(body, '\n')
}

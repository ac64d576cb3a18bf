package meta

import "net/http"

// formatQuery replies with a statement in a readable layout.
func formatQuery(w http.ResponseWriter, r *http.Request) {
	var body queryRequest
	if err := readBody(r, &body); err != nil || body.Query == "" {
		fail(w, http.StatusBadRequest, "query not found")
		return
	}
	replyText(w, formatSQL(body.Query))
}

func formatSQL(s string) string { return s }

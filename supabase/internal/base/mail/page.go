package mail

import (
	_ "embed"
	"html/template"
	"net/http"
)

//go:embed page.html
var pageHTML string

var pages = template.Must(template.New("page").Parse(pageHTML))

// page lists the mails. The page reloads every few seconds to show new mail.
func (b *Inbox) page(w http.ResponseWriter, _ *http.Request) {
	var list []summary
	for _, m := range b.list(all) {
		list = append(list, summaryOf(m))
	}
	show(w, "list", list)
}

func (b *Inbox) mailPage(w http.ResponseWriter, r *http.Request) {
	m := b.find(r.PathValue("id"))
	if m == nil {
		http.Error(w, "message not found", http.StatusNotFound)
		return
	}
	b.markRead(true, func(other *stored) bool { return other.ID == m.ID })
	show(w, "mail", m)
}

func show(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'")
	_ = pages.ExecuteTemplate(w, name, data) // fails only if the client disconnected
}

package mail

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Handler serves the inbox: a page at /, and the parts of Mailpit's JSON API (v1) that programs
// under test use below /api/v1.
func (b *Inbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/messages", b.listMessages)
	mux.HandleFunc("DELETE /api/v1/messages", b.deleteMessages)
	mux.HandleFunc("PUT /api/v1/messages", b.markMessages)
	mux.HandleFunc("GET /api/v1/search", b.searchMessages)
	mux.HandleFunc("DELETE /api/v1/search", b.deleteFound)
	mux.HandleFunc("GET /api/v1/info", b.info)
	mux.HandleFunc("GET /api/v1/message/{id}", b.one(showMessage))
	mux.HandleFunc("GET /api/v1/message/{id}/headers", b.one(showHeaders))
	mux.HandleFunc("GET /api/v1/message/{id}/raw", b.one(showRaw))
	mux.HandleFunc("GET /api/v1/message/{id}/part/{part}", b.one(showPart))
	mux.HandleFunc("GET /view/{file}", b.viewPart)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /{$}", b.page)
	mux.HandleFunc("GET /mail/{id}", b.mailPage)
	return mux
}

// summary is a mail in a list.
type summary struct {
	ID          string    `json:"ID"`
	MessageID   string    `json:"MessageID"`
	Read        bool      `json:"Read"`
	From        address   `json:"From"`
	To          []address `json:"To"`
	Cc          []address `json:"Cc"`
	Bcc         []address `json:"Bcc"`
	ReplyTo     []address `json:"ReplyTo"`
	Subject     string    `json:"Subject"`
	Created     time.Time `json:"Created"`
	Username    string    `json:"Username"`
	Tags        []string  `json:"Tags"`
	Size        int       `json:"Size"`
	Attachments int       `json:"Attachments"`
	Snippet     string    `json:"Snippet"`
}

func summaryOf(m *stored) summary {
	return summary{m.ID, m.MessageID, m.Read, m.From, m.To, m.Cc, m.Bcc, m.ReplyTo, m.Subject, m.Created, "",
		[]string{}, m.Size, len(m.Attachments), m.snippet()}
}

func all(*stored) bool { return true }

func (b *Inbox) listMessages(w http.ResponseWriter, r *http.Request) { b.sendList(w, r, all) }

func (b *Inbox) searchMessages(w http.ResponseWriter, r *http.Request) {
	b.sendList(w, r, func(m *stored) bool { return m.matches(r.URL.Query().Get("query")) })
}

// sendList sends one page of the mails that match.
func (b *Inbox) sendList(w http.ResponseWriter, r *http.Request, match func(*stored) bool) {
	start := max(0, number(r, "start", 0))
	limit := number(r, "limit", 50)
	found := b.list(match)
	everything := b.list(all)
	unread := len(b.list(func(m *stored) bool { return !m.Read }))
	page := []summary{}
	for _, m := range found[min(start, len(found)):] {
		if limit > 0 && len(page) == limit {
			break
		}
		page = append(page, summaryOf(m))
	}
	sendJSON(w, map[string]any{
		"total": len(everything), "unread": unread, "count": len(page), "messages_count": len(found),
		"messages_unread": unread, "start": start, "tags": []string{}, "messages": page,
	})
}

func number(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil {
		return otherwise
	}
	return n
}

// byIDs reads {"IDs": [...]} from the body. Without IDs all mails match.
func byIDs(r *http.Request) func(*stored) bool {
	var body struct{ IDs []string }
	_ = json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&body) // an empty body is allowed
	return func(m *stored) bool { return len(body.IDs) == 0 || slices.Contains(body.IDs, m.ID) }
}

func (b *Inbox) deleteMessages(w http.ResponseWriter, r *http.Request) {
	b.remove(byIDs(r))
	_, _ = io.WriteString(w, "ok")
}

func (b *Inbox) deleteFound(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("query")
	b.remove(func(m *stored) bool { return query != "" && m.matches(query) })
	_, _ = io.WriteString(w, "ok")
}

func (b *Inbox) markMessages(w http.ResponseWriter, r *http.Request) {
	var body struct {
		IDs  []string
		Read bool
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&body); err != nil {
		http.Error(w, "bad JSON", http.StatusBadRequest)
		return
	}
	b.markRead(body.Read, func(m *stored) bool { return len(body.IDs) == 0 || slices.Contains(body.IDs, m.ID) })
	_, _ = io.WriteString(w, "ok")
}

func (b *Inbox) info(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, map[string]any{
		"Version": "daawo", "Messages": len(b.list(all)),
		"Unread": len(b.list(func(m *stored) bool { return !m.Read })),
	})
}

// one finds the mail of the path and marks it as read.
func (b *Inbox) one(show func(http.ResponseWriter, *http.Request, *stored)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := b.find(r.PathValue("id"))
		if m == nil {
			http.Error(w, "message not found", http.StatusNotFound)
			return
		}
		b.markRead(true, func(other *stored) bool { return other.ID == m.ID })
		show(w, r, m)
	}
}

func showMessage(w http.ResponseWriter, _ *http.Request, m *stored) {
	sendJSON(w, map[string]any{
		"ID": m.ID, "MessageID": m.MessageID, "From": m.From, "To": m.To, "Cc": m.Cc, "Bcc": m.Bcc,
		"ReplyTo": m.ReplyTo, "ReturnPath": m.ReturnPath, "Subject": m.Subject, "Date": m.Date, "Tags": []string{},
		"Username": "", "Text": m.Text, "HTML": m.HTML, "Size": m.Size, "Inline": []attachment{},
		"Attachments": m.Attachments,
	})
}

func showHeaders(w http.ResponseWriter, _ *http.Request, m *stored) { sendJSON(w, m.header) }

func showRaw(w http.ResponseWriter, _ *http.Request, m *stored) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(m.raw)
}

func showPart(w http.ResponseWriter, r *http.Request, m *stored) {
	for _, a := range m.Attachments {
		if a.PartID == r.PathValue("part") {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Disposition", "attachment")
			_, _ = w.Write(a.content)
			return
		}
	}
	http.Error(w, "part not found", http.StatusNotFound)
}

// viewPart serves only a mail's HTML or text part: /view/<ID>.html, /view/latest.txt.
func (b *Inbox) viewPart(w http.ResponseWriter, r *http.Request) {
	id, kind, _ := strings.Cut(r.PathValue("file"), ".")
	m := b.find(id)
	switch {
	case m == nil:
		http.Error(w, "message not found", http.StatusNotFound)
	case kind == "html":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups allow-top-navigation-by-user-activation")
		_, _ = io.WriteString(w, m.HTML)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, m.Text)
	}
}

func sendJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

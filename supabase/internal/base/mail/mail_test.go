package mail

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newInbox runs an inbox and returns a server that sends to it.
func newInbox(t *testing.T) (*Inbox, Server) {
	t.Helper()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	smtp, page := listen(), listen()
	b := NewInbox(slog.New(slog.DiscardHandler))
	b.Serve(smtp, page)
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b, Server{Host: "127.0.0.1", Port: smtp.Addr().(*net.TCPAddr).Port, From: "sender@example.org",
		FromName: "Example", Plain: true, Timeout: 5 * time.Second}
}

// ask makes a request to the inbox and decodes its JSON.
func ask[T any](t *testing.T, b *Inbox, method, path, body string) T {
	t.Helper()
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); w.Code != 200 || err != nil {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return v
}

type listing struct {
	Total, Unread, Count int
	MessagesCount        int `json:"messages_count"`
	Messages             []struct {
		ID, Subject, Snippet string
		To                   []address
		Read                 bool
	}
}

func TestSendToInbox(t *testing.T) {
	b, s := newInbox(t)
	err := s.Send(t.Context(), Message{
		To: []string{"Ana <admin@example.org>"}, Subject: "Änderung — N-1\r\nBcc: x@example.org", Text: "Text: ñ ☀\n",
		HTML: "<p>Text</p><script>1</script>", ID: "notice-7",
	})
	if err != nil {
		t.Fatal(err)
	}
	list := ask[listing](t, b, "GET", "/api/v1/messages", "")
	if list.Total != 1 || list.Unread != 1 || list.Messages[0].Subject != "Änderung — N-1 Bcc: x@example.org" ||
		list.Messages[0].To[0] != (address{"Ana", "admin@example.org"}) {
		t.Fatalf("%+v", list)
	}
	m := ask[struct {
		ID, MessageID, Subject, Text, HTML string
		From                               address
		Bcc                                []address
	}](t, b, "GET", "/api/v1/message/"+list.Messages[0].ID, "")
	if strings.TrimSpace(m.Text) != "Text: ñ ☀" || !strings.Contains(m.HTML, "<p>Text</p>") ||
		m.From != (address{"Example", "sender@example.org"}) ||
		m.MessageID != "notice-7@example.org" || len(m.Bcc) != 0 {
		t.Errorf("%+v", m)
	}
	if after := ask[listing](t, b, "GET", "/api/v1/messages", ""); after.Unread != 0 {
		t.Error("a mail that was read still counts as unread")
	}
	for path, has := range map[string]string{
		"/": "Änderung", "/mail/latest": "Text: ñ", "/view/latest.html": "<p>Text</p>", "/view/latest.txt": "Text: ñ",
		"/api/v1/message/latest/raw": "Subject:", "/api/v1/message/latest/headers": "Message-Id", "/readyz": "ok",
		"/api/v1/info": `"Messages":1`,
	} {
		w := httptest.NewRecorder()
		b.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), has) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") &&
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: scripts of a mail could run", path)
		}
	}
}

func TestSearchAndDelete(t *testing.T) {
	b, s := newInbox(t)
	for _, m := range []Message{
		{To: []string{"one@example.org"}, Subject: "First note", Text: "alpha"},
		{To: []string{"two@example.org"}, Subject: "Second note", Text: "beta gamma"},
		{To: []string{"two@example.org"}, Subject: "Code", Text: "123456"},
	} {
		if err := s.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]int{
		`to:"two@example.org"`: 2, `to:two@example.org subject:note`: 1, `note`: 2, `"beta gamma"`: 1,
		`-subject:note`:           1,
		`from:sender@example.org`: 3, `is:unread`: 3, `is:read`: 0, `nothing`: 0, `addressed:one@example.org`: 1,
	} {
		if got := ask[listing](t, b, "GET", "/api/v1/search?query="+url.QueryEscape(query),
			""); got.MessagesCount != want {
			t.Errorf("%s: %d, want %d", query, got.MessagesCount, want)
		}
	}
	page := ask[listing](t, b, "GET", "/api/v1/messages?start=1&limit=1", "")
	if page.Count != 1 || page.Total != 3 || page.Messages[0].Subject != "Second note" {
		t.Errorf("%+v", page)
	}
	do := func(method, path, body string) {
		w := httptest.NewRecorder()
		b.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != http.StatusOK {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	}
	do("PUT", "/api/v1/messages", `{"IDs":["`+page.Messages[0].ID+`"],"Read":true}`)
	if got := ask[listing](t, b, "GET", "/api/v1/messages", ""); got.Unread != 2 {
		t.Errorf("%d unread, want 2", got.Unread)
	}
	do("DELETE", "/api/v1/messages", `{"IDs":["`+page.Messages[0].ID+`"]}`)
	do("DELETE", "/api/v1/search?query=subject:Code", "")
	if got := ask[listing](t, b, "GET", "/api/v1/messages", ""); got.Total != 1 ||
		got.Messages[0].Subject != "First note" {
		t.Errorf("%+v", got)
	}
	do("DELETE", "/api/v1/messages", "")
	if got := ask[listing](t, b, "GET", "/api/v1/messages", ""); got.Total != 0 {
		t.Errorf("%d mails, want 0", got.Total)
	}
}

// TestHeaders checks the headers that a server adds to all mails.
func TestHeaders(t *testing.T) {
	s := Server{From: "site@example.org", Headers: map[string][]string{"X-Kind": {"auth $messageType\r\nX-Evil: 1"},
		"X-Two": {"a", "b"}}}
	msg, err := s.compose(Message{To: []string{"a@example.org"}, Text: "text", Kind: "invite"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := msg.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "X-Kind: auth invite X-Evil: 1\r\n") ||
		!strings.Contains(text, "X-Two: a, b\r\n") {
		t.Error(text)
	}
}

func TestSendErrors(t *testing.T) {
	_, s := newInbox(t)
	m := Message{To: []string{"a@example.org"}, Subject: "x", Text: "y"}
	if _, err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	s.Plain = false // the inbox has no TLS, so nothing may be sent
	if err := s.Send(t.Context(), m); err == nil {
		t.Error("mail was sent without TLS")
	}
	s.Port = 1
	if err := s.Send(t.Context(), m); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("%v does not name the server", err)
	}
	for _, bad := range []Message{{To: []string{"invalid"}, Text: "x"}, {Text: "x"}} {
		if err := s.Send(t.Context(), bad); err == nil {
			t.Errorf("%v was sent", bad)
		}
	}
}

func TestInboxLimit(t *testing.T) {
	b := NewInbox(slog.New(slog.DiscardHandler))
	for range inboxLimit + 10 {
		b.add(parse([]byte("Subject: x\r\n\r\ny"), "a@example.org", nil, time.Now()))
	}
	if n := len(b.list(all)); n != inboxLimit {
		t.Errorf("%d mails", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("Subject: =?utf-8?q?x?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n--b--"), "to:x -\"y z\"")
	f.Add([]byte("no header at all"), "is:read")
	f.Fuzz(func(t *testing.T, raw []byte, query string) {
		m := parse(raw, "a@example.org", []string{"b@example.org"}, time.Now())
		m.matches(query)
		if _, err := json.Marshal(summaryOf(m)); err != nil {
			t.Error(err)
		}
		w := httptest.NewRecorder()
		showMessage(w, nil, m)
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s", w.Body)
		}
		_, _ = io.Copy(io.Discard, w.Body)
	})
}

package mail

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

const (
	inboxKeeps   = 500      // mails; older ones make room
	inboxLargest = 10 << 20 // bytes of one mail
)

// Inbox is a mail server for development: it takes every mail for anybody, sends none on, and shows them. It keeps them in
// memory. Listen on loopback only: whoever reaches it reads all.
type Inbox struct {
	smtp *smtp.Server
	http *http.Server

	mu    sync.Mutex
	mails []*stored // newest first
	work  sync.WaitGroup
}

// NewInbox makes an inbox; Serve runs it.
func NewInbox(log *slog.Logger) *Inbox {
	b := &Inbox{}
	b.smtp = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{inbox: b}, nil }))
	b.smtp.Domain = "localhost"
	b.smtp.MaxMessageBytes = inboxLargest
	b.smtp.MaxRecipients = 100
	b.smtp.ReadTimeout = 30 * time.Second
	b.smtp.WriteTimeout = 30 * time.Second
	b.smtp.AllowInsecureAuth = true
	b.smtp.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	b.http = &http.Server{Handler: b.Handler(), ReadHeaderTimeout: 10 * time.Second}
	return b
}

// Serve takes mail on the one listener and shows it on the other, in the background until Close.
func (b *Inbox) Serve(smtpListener, httpListener net.Listener) {
	b.work.Add(2)
	go func() {
		defer b.work.Done()
		_ = b.smtp.Serve(smtpListener) // ends with Close
	}()
	go func() {
		defer b.work.Done()
		_ = b.http.Serve(httpListener)
	}()
}

// Close ends both servers.
func (b *Inbox) Close(ctx context.Context) error {
	err := errors.Join(b.smtp.Close(), b.http.Shutdown(ctx))
	b.work.Wait()
	return err
}

// session is one client's conversation by SMTP.
type session struct {
	inbox *Inbox
	from  string
	to    []string
}

var _ smtp.AuthSession = (*session)(nil)

// AuthMechanisms offers a login, and Auth lets anybody in: programs under test may insist on one.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(string, string, string) error { return nil }), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.inbox.add(parse(raw, s.from, s.to, time.Now()))
	return nil
}

func (s *session) Reset()        { s.from, s.to = "", nil }
func (s *session) Logout() error { return nil }

func (b *Inbox) add(m *stored) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = append([]*stored{m}, b.mails...)
	if len(b.mails) > inboxKeeps {
		b.mails = b.mails[:inboxKeeps]
	}
}

// list gives the mails that match, newest first.
func (b *Inbox) list(match func(*stored) bool) []*stored {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []*stored
	for _, m := range b.mails {
		if match(m) {
			found = append(found, m)
		}
	}
	return found
}

// find gives one mail by its ID, or the newest by "latest".
func (b *Inbox) find(id string) *stored {
	found := b.list(func(m *stored) bool { return m.ID == id || id == "latest" })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

// remove deletes the mails that match.
func (b *Inbox) remove(match func(*stored) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.mails[:0:0]
	for _, m := range b.mails {
		if !match(m) {
			kept = append(kept, m)
		}
	}
	b.mails = kept
}

// markRead sets whether mails count as read.
func (b *Inbox) markRead(read bool, match func(*stored) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.mails {
		if match(m) && m.Read != read {
			changed := *m // others may hold the old one
			changed.Read = read
			b.mails[i] = &changed
		}
	}
}

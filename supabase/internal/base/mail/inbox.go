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
	inboxLimit    = 500      // most mails; older ones are removed
	inboxMailSize = 10 << 20 // largest mail in bytes
)

// Inbox is a mail server for development. It accepts every mail, forwards none and keeps them in
// memory. It must listen on loopback only: every client can read all mails.
type Inbox struct {
	smtp *smtp.Server
	http *http.Server

	mu    sync.Mutex
	mails []*stored // newest first
	work  sync.WaitGroup
}

// NewInbox returns an inbox. Serve runs it.
func NewInbox(log *slog.Logger) *Inbox {
	b := &Inbox{}
	b.smtp = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{inbox: b}, nil }))
	b.smtp.Domain = "localhost"
	b.smtp.MaxMessageBytes = inboxMailSize
	b.smtp.MaxRecipients = 100
	b.smtp.ReadTimeout = 30 * time.Second
	b.smtp.WriteTimeout = 30 * time.Second
	b.smtp.AllowInsecureAuth = true
	b.smtp.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	b.http = &http.Server{Handler: b.Handler(), ReadHeaderTimeout: 10 * time.Second}
	return b
}

// Serve receives mail on the first listener and shows it on the second, in the background until
// Close.
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

// Close stops both servers.
func (b *Inbox) Close(ctx context.Context) error {
	err := errors.Join(b.smtp.Close(), b.http.Shutdown(ctx))
	b.work.Wait()
	return err
}

// session is the SMTP session of one client.
type session struct {
	inbox *Inbox
	from  string
	to    []string
}

var _ smtp.AuthSession = (*session)(nil)

// AuthMechanisms offers PLAIN, because programs under test may require authentication. Auth accepts
// every login.
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
	if len(b.mails) > inboxLimit {
		b.mails = b.mails[:inboxLimit]
	}
}

// list returns the mails that match, newest first.
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

// find returns a mail by its ID, or the newest for "latest".
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

// markRead marks mails as read or unread.
func (b *Inbox) markRead(read bool, match func(*stored) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.mails {
		if match(m) && m.Read != read {
			changed := *m // other goroutines may hold the old value
			changed.Read = read
			b.mails[i] = &changed
		}
	}
}

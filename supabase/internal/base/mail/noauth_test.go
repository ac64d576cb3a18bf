package mail

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// relay is an SMTP server that offers no AUTH. It keeps the senders of the mails.
type relay struct{ senders chan string }

func (r relay) NewSession(*smtp.Conn) (smtp.Session, error) { return relaySession{r}, nil }

type relaySession struct{ relay }

func (s relaySession) Mail(from string, _ *smtp.MailOptions) error { s.senders <- from; return nil }
func (relaySession) Rcpt(string, *smtp.RcptOptions) error          { return nil }
func (relaySession) Data(r io.Reader) error                        { _, err := io.Copy(io.Discard, r); return err }
func (relaySession) Reset()                                        {}
func (relaySession) Logout() error                                 { return nil }

// TestServerWithoutAuth: with a user name, mail goes without authentication to a server that offers
// none, as GoTrue sends it. A server that offers AUTH gets no mail without it.
func TestServerWithoutAuth(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := relay{make(chan string, 1)}
	server := smtp.NewServer(r)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		<-served
	})
	s := Server{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, From: "sender@example.org", User: "user",
		Password: "secret", Plain: true, Timeout: 5 * time.Second}
	if err := s.Send(t.Context(), Message{To: []string{"a@example.org"}, Subject: "Hello", Text: "Text"}); err != nil {
		t.Fatal(err)
	}
	if from := <-r.senders; from != "sender@example.org" {
		t.Error(from)
	}
	if authenticated, err := s.Check(t.Context()); err != nil || authenticated {
		t.Errorf("check: %t, %v", authenticated, err)
	}

	inbox, offering := newInbox(t) // offers PLAIN, which is refused without TLS
	offering.User, offering.Password = "user", "secret"
	if err := offering.Send(t.Context(),
		Message{To: []string{"a@example.org"}, Subject: "Hello", Text: "Text"}); err == nil {
		t.Error("a mail was sent without the authentication that the server offers")
	}
	if n := len(inbox.list(all)); n != 0 {
		t.Errorf("%d mails", n)
	}
}

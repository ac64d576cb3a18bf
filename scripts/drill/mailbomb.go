package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"daawo/scripts/server"
)

// mailbombDrill asks for sign-in links to a member's address once a second, each time from another
// network, and for links to an unknown address. The mailbox must get one mail a minute at most,
// both addresses the same statuses, and the notice of a report must arrive beside them.
func mailbombDrill(ctx context.Context, s settings) (string, error) {
	sink, err := newMailSink()
	if err != nil {
		return "", err
	}
	defer sink.Close()
	st, err := server.New(ctx, s.binary, publicSite(sink.port())...)
	if err != nil {
		return "", err
	}
	defer st.Close()
	const member, unknown, notices = "member@example.org", "unknown@example.org", "admin@example.org"
	guest := &stranger{st: st}
	c := call{path: "/auth/v1/admin/users", method: http.MethodPost, key: st.Get("SERVICE_ROLE_KEY"),
		kind: "application/json", body: []byte(`{"email":"` + member + `","email_confirm":true}`)}
	if a := c.send(ctx, st); a.status != http.StatusOK {
		return "", fmt.Errorf("the member was not made: %d %s", a.status, a.body)
	}
	rounds := s.rounds(120, 40)
	statuses := map[string]map[int]int{member: {}, unknown: {}}
	var slowest, fastest time.Duration
	for i := range rounds {
		for address, seen := range statuses {
			begun := time.Now()
			status := guest.send(ctx, "/auth/v1/otp", "application/json",
				[]byte(`{"email":"`+address+`","create_user":false}`), fmt.Sprintf("2001:db8:%x::1", i)).status
			seen[status]++
			if took := time.Since(begun); status == http.StatusOK {
				slowest = max(slowest, took)
				if fastest == 0 || took < fastest {
					fastest = took
				}
			}
		}
		pause(ctx, time.Second)
	}
	outcome, _, _ := submit(ctx, st, fmt.Sprintf("mailbomb-%d", s.seed))
	for deadline := time.Now().Add(30 * time.Second); sink.count(notices) == 0 && time.Now().Before(deadline); {
		pause(ctx, 100*time.Millisecond)
	}
	got, most := sink.count(member), 1+rounds/60
	figures := fmt.Sprintf("%d requests in %d s: %d mails, replies for the member %v, for an unknown address %v in %s to %s; "+
		"%d notices of a report", rounds, rounds, got, statuses[member], statuses[unknown],
		fastest.Round(time.Millisecond), slowest.Round(time.Millisecond), sink.count(notices))
	var broken []error
	if got > most || got == 0 {
		broken = append(broken, fmt.Errorf("the mailbox got %d mails, at most %d are allowed", got, most))
	}
	if fmt.Sprint(statuses[member]) != fmt.Sprint(statuses[unknown]) {
		broken = append(broken, errors.New("the replies tell which address has an account"))
	}
	if outcome != accepted || sink.count(notices) == 0 {
		broken = append(broken, errors.New("the notice of a report did not arrive"))
	}
	return figures, errors.Join(broken...)
}

// publicSite returns the variables of an installation on a public address, whose mail goes to a
// port of this machine.
func publicSite(mailPort string) []string {
	return []string{"SITE_URL=https://site.example.org", "ADMIN_EMAIL=admin@example.org", "SMTP_HOST=127.0.0.1",
		"SMTP_PORT=" + mailPort, "SMTP_TLS=off", "SMTP_ADMIN_EMAIL=site@example.org"}
}

// mailSink is a mail server that counts mails by recipient.
type mailSink struct {
	net.Listener
	mu    sync.Mutex
	mails map[string]int
}

func newMailSink() (*mailSink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mailSink{Listener: l, mails: map[string]int{}}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m, nil
}

func (m *mailSink) port() string { return server.PortOf(m.Addr().String()) }

func (m *mailSink) count(address string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mails[address]
}

// serve speaks SMTP (RFC 5321) as far as a client needs it.
func (m *mailSink) serve(conn net.Conn) {
	defer conn.Close()
	fmt.Fprint(conn, "220 drill\r\n")
	var to []string
	inside := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
		switch {
		case inside && line == ".":
			m.mu.Lock()
			for _, address := range to {
				m.mails[address]++
			}
			m.mu.Unlock()
			inside, to = false, nil
		case inside:
			continue
		case verb == "DATA":
			inside = true
			fmt.Fprint(conn, "354 go on\r\n")
			continue
		case verb == "RCPT":
			to = append(to, strings.ToLower(strings.Trim(line[strings.IndexByte(line, ':')+1:], "<> ")))
		case verb == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		}
		fmt.Fprint(conn, "250 ok\r\n")
	}
}

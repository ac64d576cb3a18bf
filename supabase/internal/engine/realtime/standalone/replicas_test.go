package standalone

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"
)

// listener is a socket with one joined channel.
type listener struct {
	t    *testing.T
	conn *websocket.Conn
}

func listen(t *testing.T, at, token, join string) listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, at+"/socket/websocket?vsn=2.0.0&apikey="+token, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	l := listener{t, conn}
	l.send("phx_join", join)
	l.want(`"status":"ok"`)
	return l
}

func (l listener) send(event, payload string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	if err := l.conn.Write(ctx, websocket.MessageText,
		fmt.Appendf(nil, `["1","1","realtime:notes",%q,%s]`, event, payload)); err != nil {
		l.t.Fatal(err)
	}
}

// want waits for a message that contains all parts.
func (l listener) want(parts ...string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
next:
	for {
		_, text, err := l.conn.Read(ctx)
		if err != nil {
			l.t.Fatalf("waiting for %q: %v", parts, err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				continue next
			}
		}
		return
	}
}

// start runs a server until stop is called.
func start(t *testing.T, c *Config) (at string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { address <- a }) }()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	select {
	case err := <-ended:
		t.Fatal(err)
	case a := <-address:
		return "http://" + a.String(), stop
	}
	return "", nil
}

// TestReplicasOverNATS checks broadcasts, presence and changes of the database on two servers with
// one database.
func TestReplicasOverNATS(t *testing.T) {
	nats, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	nats.Start()
	defer nats.Shutdown()
	if !nats.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	db := newDatabase(t)
	c := configured(t, db)
	c.NATSURL = nats.ClientURL()
	firstAt, stopFirst := start(t, c)
	secondAt, stopSecond := start(t, c)
	stopped := false
	defer func() {
		if !stopped {
			stopFirst()
		}
		stopSecond()
	}()
	token := sign(t, jwtSecret, "anon")
	const join = `{"config":{"broadcast":{"replication_ready":true},"presence":{"enabled":true,"key":%q}}}`
	a, b := listen(t, firstAt, token, fmt.Sprintf(join, "a")), listen(t, secondAt, token, fmt.Sprintf(join, "b"))
	for _, l := range []listener{a, b} {
		l.want("Replication connection established")
	}
	a.send("presence", `{"event":"track","payload":{"at":"first"}}`)
	b.want("presence_diff", `"joins":{"a"`)
	b.send("broadcast", `{"type":"broadcast","event":"e","payload":{"n":1}}`)
	a.want(`"broadcast"`, `{"n":1}`)
	db.Exec(`select realtime.send('{"n":2}', 'added', 'notes', false)`)
	for _, l := range []listener{a, b} {
		l.want(`"event":"added"`)
	}
	stopFirst()
	stopped = true
	b.want("presence_diff", `"leaves":{"a"`)
}

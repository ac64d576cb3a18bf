package bus

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func startNATS(t *testing.T, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("NATS does not start")
	}
	t.Cleanup(s.Shutdown)
	return s
}

func dial(t *testing.T, url string) Bus {
	t.Helper()
	b, err := DialNATS(NATSOptions{URL: url, Prefix: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !check(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// log collects messages.
type log struct {
	mu       sync.Mutex
	messages [][]byte
}

func (l *log) add(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, data)
}

func (l *log) all() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.messages
}

func TestBus(t *testing.T) {
	nats := startNATS(t, -1)
	hub := NewHub()
	for name, join := range map[string]func() Bus{
		"NATS": func() Bus { return dial(t, nats.ClientURL()) }, "in process": hub.Join,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := join(), join()
			defer a.Close()
			defer b.Close()
			eventually(t, "connection", func() bool { return a.Ready() == nil && b.Ready() == nil })
			var own, others log
			for _, subscription := range []struct {
				bus Bus
				to  *log
			}{{a, &own}, {b, &others}} {
				if err := subscription.bus.Subscribe("subject", subscription.to.add); err != nil {
					t.Fatal(err)
				}
			}
			// NATS subscribes in the background: a message of b arrives only if a's subscription
			// has reached the server.
			eventually(t, "subscription",
				func() bool { return b.Publish("subject", []byte("warm")) == nil && len(own.all()) > 0 })
			eventually(t, "subscription",
				func() bool { return a.Publish("subject", []byte("warm")) == nil && len(others.all()) > 0 })
			before := len(own.all())
			large := make([]byte, 3<<20)
			_, _ = rand.Read(large)
			want := [][]byte{[]byte("1"), large, []byte("3")}
			for _, message := range want {
				if err := a.Publish("subject", message); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "delivery", func() bool {
				got := others.all()
				return len(got) >= 3 && bytes.Equal(bytes.Join(got[len(got)-3:], nil), bytes.Join(want, nil))
			})
			for _, message := range own.all()[before:] {
				if string(message) != "warm" {
					t.Error("a replica received its own message")
				}
			}
		})
	}
}

// TestUnreachable checks that a server of NATS that is away is logged at the start, and that the
// password is not.
func TestUnreachable(t *testing.T) {
	var out bytes.Buffer
	b, err := DialNATS(NATSOptions{URL: "nats://user:secret@127.0.0.1:1", Prefix: "test",
		Log: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	if text := out.String(); !strings.Contains(text, "NATS unreachable; retrying") || strings.Contains(text, "secret") {
		t.Error(text)
	}
}

func TestReconnect(t *testing.T) {
	first := startNATS(t, -1)
	b := dial(t, first.ClientURL())
	eventually(t, "connection", func() bool { return b.Ready() == nil })
	port := first.Addr().String()[len("127.0.0.1:"):]
	first.Shutdown()
	eventually(t, "disconnection", func() bool { return b.Ready() != nil })
	if err := b.Publish("subject", []byte("x")); err == nil {
		t.Error("Publish without a connection returned no error")
	}
	called := make(chan bool, 10)
	b.OnReconnect(func() { called <- true })
	var number int
	_, _ = fmt.Sscan(port, &number)
	startNATS(t, number)
	<-called
	eventually(t, "reconnection", func() bool { return b.Ready() == nil })
}

func TestParts(t *testing.T) {
	now := time.Now()
	data := bytes.Repeat([]byte("0123456789"), 10)
	j := newJoiner(func() time.Time { return now })
	parts := split(data, 30)
	if len(parts) != 4 {
		t.Fatalf("%d parts", len(parts))
	}
	deliver := func(wire ...[]byte) (got []byte) {
		for _, w := range wire {
			if data, ok := j.add(w); ok {
				got = data
			}
		}
		return got
	}
	if got := deliver(parts...); !bytes.Equal(got, data) {
		t.Errorf("got %q", got)
	}
	if got := deliver(parts[0], parts[2], parts[3]); got != nil {
		t.Errorf("with a missing part: got %q", got)
	}
	if got := deliver(nil, []byte{7}, []byte{part}, parts[1]); got != nil {
		t.Errorf("malformed: got %q", got)
	}
	deliver(split(data, 30)[0])
	now = now.Add(time.Minute)
	deliver(split(data, 30)[0])
	if len(j.partial) != 1 || j.size != 30 {
		t.Errorf("%d incomplete messages of %d bytes remain", len(j.partial), j.size)
	}
}

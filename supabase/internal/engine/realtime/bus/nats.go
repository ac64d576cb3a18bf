package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// NATSOptions configures a connection to NATS.
type NATSOptions struct {
	// nats://host:4222; several servers are separated by commas; user and password or a token may
	// be in it
	URL    string
	Prefix string // of the subjects; replicas of one installation have the same
	Log    *slog.Logger
}

type natsBus struct {
	conn   *nats.Conn
	prefix string
	log    *slog.Logger

	publishing sync.Mutex

	mu        sync.Mutex
	reconnect []func()
}

// maxPart is the largest payload of one NATS message, in bytes. The server's default limit is 1
// MiB.
const maxPart = 512 << 10

// DialNATS connects to NATS. If no server answers, it keeps trying in the background, and Ready
// returns an error until then.
func DialNATS(o NATSOptions) (Bus, error) {
	b := &natsBus{prefix: o.Prefix, log: o.Log}
	conn, err := nats.Connect(o.URL,
		nats.Name("realtime"), nats.NoEcho(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(500*time.Millisecond), nats.Timeout(5*time.Second),
		// a server that does not answer is given up after 5 to 10 s
		nats.PingInterval(5*time.Second), nats.MaxPingsOutstanding(1),
		nats.ReconnectBufSize(-1), // what was published without a connection is outdated after it
		nats.ConnectHandler(func(*nats.Conn) { b.connected() }),
		nats.ReconnectHandler(func(*nats.Conn) { b.connected() }),
		nats.DisconnectErrHandler(func(_ *nats.Conn,
			err error) {
			o.Log.Warn("NATS disconnected; reconnecting", "error", err)
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log.Warn("NATS", "error", err) }),
	)
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	if !conn.IsConnected() {
		o.Log.Warn("NATS unreachable; retrying") // without the URL, which can hold a password
	}
	b.conn = conn
	return b, nil
}

func (b *natsBus) connected() {
	b.log.Info("NATS connected")
	b.mu.Lock()
	calls := b.reconnect
	b.mu.Unlock()
	for _, fn := range calls {
		fn()
	}
}

func (b *natsBus) subject(name string) string { return b.prefix + "." + name }

// Publish splits large messages. It holds a lock, so that the parts of one message and the messages
// of one caller stay in order.
func (b *natsBus) Publish(subject string, data []byte) error {
	b.publishing.Lock()
	defer b.publishing.Unlock()
	for _, part := range split(data, maxPart) {
		if err := b.conn.Publish(b.subject(subject), part); err != nil {
			return err
		}
	}
	return nil
}

// maxPending is the largest backlog of a subscription, in bytes. Beyond it NATS drops messages and
// reports a slow consumer.
const maxPending = 64 << 20

func (b *natsBus) Subscribe(subject string, fn func([]byte)) error {
	joiner := newJoiner(time.Now)
	subscription, err := b.conn.Subscribe(b.subject(subject), func(m *nats.Msg) {
		if data, ok := joiner.add(m.Data); ok {
			fn(data)
		}
	})
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	return subscription.SetPendingLimits(-1, maxPending)
}

func (b *natsBus) OnReconnect(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reconnect = append(b.reconnect, fn)
}

func (b *natsBus) Ready() error {
	if b.conn.IsConnected() {
		return nil
	}
	if err := b.conn.LastError(); err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	return errors.New("NATS: not connected")
}

func (b *natsBus) Close() {
	_ = b.conn.FlushTimeout(time.Second) // a server that does not answer gets no last messages
	b.conn.Close()
}

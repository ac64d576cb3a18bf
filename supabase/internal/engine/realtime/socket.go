package realtime

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/engine/realtime/phoenix"
)

// Times after which a socket is closed, as upstream.
const (
	silence   = 60 * time.Second // without a message of the client, which sends heartbeats
	noChannel = 10 * time.Minute // without a channel
)

// socket is the connection of a client. One goroutine reads its messages; its queue writes.
type socket struct {
	e        *Engine
	conn     *websocket.Conn
	out      *queue
	version  phoenix.Version
	claims   *claims        // of the API key
	headers  http.Header    // that policies see
	networks []network.Part // of the client
	line     netip.Addr     // home line of the client; zero for programs of this machine
	heard    atomic.Int64

	mu         sync.Mutex
	channels   map[string]*channel // by topic
	emptySince time.Time           // zero while there are channels
	closed     bool
}

// run reads messages until the connection ends.
func (s *socket) run() {
	defer s.e.remove(s)
	defer s.close()
	for {
		kind, data, held, err := s.read()
		if err == nil {
			s.heard.Store(s.e.o.Now().UnixNano())
			s.e.metrics.received.Inc()
			s.decode(kind == websocket.MessageBinary, data)
		}
		s.e.incoming.release(s.line, held)
		if err != nil {
			return
		}
	}
}

// decode handles a message if it has the form of one.
func (s *socket) decode(binary bool, data []byte) {
	m, err := phoenix.Decode(s.version, binary, data)
	if err != nil {
		s.e.o.Log.Debug("malformed message", "error", err)
		return
	}
	s.handle(m)
}

// close ends all channels and the connection.
func (s *socket) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, c := range s.all() {
		c.close()
	}
	_ = s.conn.CloseNow() // the peer may have closed it
}

// all returns the channels.
func (s *socket) all() []*channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	channels := make([]*channel, 0, len(s.channels))
	for _, c := range s.channels {
		channels = append(channels, c)
	}
	return channels
}

// Statuses of close frames: of a server that stops, and of one that has no memory for a message.
const (
	closeGoingAway     = 1001
	closeTryAgainLater = 1013
)

// goAway asks the client to connect again later, and closes the connection.
func (s *socket) goAway() { s.end(closeGoingAway) }

// end closes the connection with a status.
func (s *socket) end(status uint16) {
	// a closed connection needs no farewell
	_ = s.out.send(binary.BigEndian.AppendUint16([]byte{final | 8, 2}, status))
	s.out.close()
}

// sweep closes the socket if it is silent or unused, and the channels whose tokens have expired.
func (s *socket) sweep(now time.Time) {
	if now.Sub(time.Unix(0, s.heard.Load())) > silence {
		s.out.abort()
		return
	}
	s.mu.Lock()
	unused := !s.emptySince.IsZero() && now.Sub(s.emptySince) > noChannel
	s.mu.Unlock()
	if unused {
		s.goAway()
		return
	}
	for _, c := range s.all() {
		c.confirm(now, false)
	}
}

// reverify closes the socket if its token is no longer accepted, else the channels of which that is
// true.
func (s *socket) reverify(now time.Time) {
	if _, err := s.e.authorize(s.claims.token); err != nil {
		s.goAway()
		return
	}
	for _, c := range s.all() {
		c.confirm(now, true)
	}
}

var emptyObject = json.RawMessage(`{}`)

func (s *socket) handle(m phoenix.Message) {
	if m.Topic == "phoenix" && m.Event == "heartbeat" {
		s.reply(nil, m.Ref, m.Topic, "ok", emptyObject)
		return
	}
	if m.Event == "phx_join" {
		s.join(m)
		return
	}
	s.mu.Lock()
	c := s.channels[m.Topic]
	s.mu.Unlock()
	switch {
	case c != nil:
		c.handle(m)
	case m.Event == "phx_leave":
		s.reply(m.JoinRef, m.Ref, m.Topic, "ok", emptyObject)
	default:
		s.reply(m.JoinRef, m.Ref, m.Topic, "error", reason("unmatched topic"))
	}
}

// maxTopic is the longest name of a topic and of a presence key, in bytes.
const maxTopic = 4 << 10

// join opens a channel. A second join of the same topic replaces the first.
func (s *socket) join(m phoenix.Message) {
	name, ok := strings.CutPrefix(m.Topic, "realtime:")
	if !ok || len(m.Topic) > maxTopic {
		s.reply(m.JoinRef, m.Ref, m.Topic, "error", reason("unmatched topic"))
		return
	}
	request := parseJoin(m.Payload)
	c := newChannel(s, m, name, request)
	s.mu.Lock()
	old := s.channels[m.Topic]
	count := len(s.channels)
	if old == nil && !s.closed {
		s.channels[m.Topic], s.emptySince = c, time.Time{}
	}
	s.mu.Unlock()
	if old != nil {
		count--
		old.push(eventClose, old.joinRef, emptyObject)
		old.close()
		s.mu.Lock()
		if !s.closed {
			s.channels[m.Topic], s.emptySince = c, time.Time{}
		}
		s.mu.Unlock()
	}
	c.do(m.Size, func() bool { return request.private }, func() { c.join(request, m.Ref, count) })
}

// drop forgets a channel.
func (s *socket) drop(c *channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[c.topic] == c {
		delete(s.channels, c.topic)
		if len(s.channels) == 0 {
			s.emptySince = s.e.o.Now()
		}
	}
}

// send queues a text frame.
func (s *socket) send(frame []byte) {
	if s.out.send(frame) == nil { // otherwise the connection is ending
		s.e.metrics.sent.Inc()
	}
}

func (s *socket) reply(joinRef, ref json.RawMessage, topic, status string, response []byte) {
	s.send(newFrame(false, len(response)+len(topic)+96, func(dst []byte) []byte {
		return s.version.AppendReply(dst, joinRef, ref, topic, status, response)
	}))
}

// reason returns the response of an error reply.
func reason(text string) json.RawMessage {
	return append(phoenix.AppendString([]byte(`{"reason":`), text), '}')
}

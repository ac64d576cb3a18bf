package realtime

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"daawo/supabase/internal/engine/realtime/messages"
	"daawo/supabase/internal/engine/realtime/phoenix"
)

// channel is a topic that a socket has joined. Its messages are handled in order, by one goroutine
// at a time.
type channel struct {
	s       *socket
	id      uint64 // unique on this replica
	topic   string // as the client names it
	key     topicKey
	joinRef json.RawMessage

	// Set before the channel is in the hub.
	ack, self   bool
	presenceKey string
	replayed    map[string]bool // ids of the replayed messages

	subscription atomic.Pointer[subscription] // to Postgres changes, nil for none
	joined       atomic.Bool
	closed       atomic.Bool
	hears        atomic.Bool // broadcasts
	seesPresence atomic.Bool

	// Only the goroutine that handles messages uses these.
	policies        policies
	presenceEnabled bool
	tracked         json.RawMessage // last presence payload
	presenceCalls   int
	presenceReset   time.Time

	tokenMu   sync.Mutex
	claims    *claims
	confirmed time.Time

	taskMu  sync.Mutex
	tasks   []task
	waiting int // bytes of the messages of tasks
	running bool
}

// task handles a message of size bytes.
type task struct {
	fn   func()
	size int
}

// verdict is the result of a check of policies.
type verdict int8

const (
	unknown verdict = iota
	allowed
	denied
)

func verdictOf(ok bool) verdict {
	if ok {
		return allowed
	}
	return denied
}

// policies are the verdicts for the user of a private channel. They are reset when the token
// changes.
type policies struct{ readBroadcast, writeBroadcast, readPresence, writePresence verdict }

func newChannel(s *socket, m phoenix.Message, name string, r joinRequest) *channel {
	return &channel{
		s: s, id: s.e.ids.Add(1), topic: m.Topic, key: topicKey{name, r.private}, joinRef: m.JoinRef,
		ack: r.ack, self: r.self, presenceKey: r.presenceKey, presenceEnabled: r.presence ||
			s.e.settings.Load().PresenceEnabled,
	}
}

// Limits of the messages that wait for a channel which asks the database. A client that sends more
// is cut off.
const (
	maxTasks   = 256
	maxWaiting = 8 << 20 // bytes
)

// do handles a message of size bytes after the earlier ones. If blocks returns true, it does not
// make the caller wait for fn.
func (c *channel) do(size int, blocks func() bool, fn func()) {
	c.taskMu.Lock()
	if c.running {
		full := len(c.tasks) >= maxTasks || c.waiting+size > maxWaiting
		if !full {
			c.tasks = append(c.tasks, task{fn, size})
			c.waiting += size
		}
		c.taskMu.Unlock()
		if full {
			c.s.e.metrics.slow.Inc()
			c.s.out.abort()
		}
		return
	}
	c.running = true
	c.taskMu.Unlock()
	if blocks() {
		c.spawn(func() { fn(); c.drain() })
		return
	}
	fn()
	c.taskMu.Lock()
	if len(c.tasks) == 0 {
		c.running = false
		c.taskMu.Unlock()
		return
	}
	c.taskMu.Unlock()
	c.spawn(c.drain)
}

func never() bool { return false }

// spawn runs fn in a goroutine that Close waits for.
func (c *channel) spawn(fn func()) {
	c.s.e.wait.Add(1)
	go func() {
		defer c.s.e.wait.Done()
		fn()
	}()
}

func (c *channel) drain() {
	for {
		c.taskMu.Lock()
		if len(c.tasks) == 0 {
			c.running, c.tasks = false, nil
			c.taskMu.Unlock()
			return
		}
		next := c.tasks[0]
		c.tasks = c.tasks[1:]
		c.waiting -= next.size
		c.taskMu.Unlock()
		next.fn()
	}
}

// databaseTimeout limits a check of policies or a replay.
const databaseTimeout = 10 * time.Second

func (c *channel) databaseContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.s.e.ctx, databaseTimeout)
}

// current returns the claims of the channel's token.
func (c *channel) current() *claims {
	c.tokenMu.Lock()
	defer c.tokenMu.Unlock()
	return c.claims
}

func (c *channel) setClaims(to *claims) {
	c.tokenMu.Lock()
	defer c.tokenMu.Unlock()
	c.claims, c.confirmed = to, c.s.e.o.Now()
}

func (c *channel) identity() messages.Identity {
	now := c.current()
	return messages.Identity{Role: now.role, Claims: now.all, Headers: c.s.headers}
}

// handle handles a message of the client.
func (c *channel) handle(m phoenix.Message) {
	switch m.Event {
	case "phx_leave":
		c.do(0, never, func() { c.leave(m.Ref) })
	case eventBroadcast:
		c.do(m.Size, func() bool { return c.key.private && c.policies.writeBroadcast == unknown },
			func() { c.broadcast(m) })
	case "presence":
		c.do(m.Size, func() bool { return c.key.private && c.policies.writePresence == unknown },
			func() { c.presence(m) })
	case "access_token":
		c.do(m.Size, func() bool { return c.key.private }, func() { c.renew(m.Payload) })
	default:
		c.s.e.events.add(1)
	}
}

func (c *channel) leave(ref json.RawMessage) {
	c.s.reply(c.joinRef, ref, c.topic, "ok", emptyObject)
	c.push(eventClose, c.joinRef, emptyObject)
	c.close()
}

// close ends the channel without a message to the client.
func (c *channel) close() {
	if c.closed.Swap(true) {
		return
	}
	c.s.drop(c)
	c.withdraw()
	if subscription := c.subscription.Load(); subscription != nil {
		subscription.end()
	}
}

// withdraw removes the channel from the hub and its presence.
func (c *channel) withdraw() {
	if c.joined.Swap(false) {
		c.s.e.countChannel(-1)
	}
	c.s.e.hub.remove(c.key, c)
	c.s.e.presence.Untrack(c.id)
}

// shutdown tells the client why the channel ends, and ends it.
func (c *channel) shutdown(why string) {
	if c.closed.Load() {
		return
	}
	c.system(eventSystem, "error", why)
	c.push(eventClose, c.joinRef, emptyObject)
	c.close()
}

// push sends a message of this channel alone.
func (c *channel) push(event string, ref json.RawMessage, payload []byte) {
	c.s.send(newFrame(false, len(payload)+len(c.topic)+96, func(dst []byte) []byte {
		return c.s.version.AppendMessage(dst, c.joinRef, ref, c.topic, event, payload)
	}))
}

// system sends a system message about an extension. status is ok or error.
func (c *channel) system(extension, status, text string) {
	c.systemBecause(extension, status, text, "", "")
}

// systemBecause sends a system message with a reason and a position. Without them, it is upstream's
// message.
func (c *channel) systemBecause(extension, status, text, reason, position string) {
	payload := append([]byte(`{"channel":`), phoenix.AppendString(nil, c.key.name)...)
	payload = phoenix.AppendString(append(payload, `,"extension":`...), extension)
	payload = phoenix.AppendString(append(payload, `,"message":`...), text)
	if position != "" {
		payload = phoenix.AppendString(append(payload, `,"position":`...), position)
	}
	if reason != "" {
		payload = phoenix.AppendString(append(payload, `,"reason":`...), reason)
	}
	payload = phoenix.AppendString(append(payload, `,"status":`...), status)
	c.push(eventSystem, nil, append(payload, '}'))
}

// deliver sends a message of the hub to the client, if the client may get it.
func (c *channel) deliver(m *message) {
	switch {
	case m.event == eventBroadcast && (!c.hears.Load() || c.replayed[m.id]),
		m.event == eventPresenceDiff && !c.seesPresence.Load():
		return
	}
	frame := m.frame(c.s.version)
	if frame == nil {
		return
	}
	c.s.send(frame)
	if m.event == eventBroadcast && c.s.e.events.add(1) {
		go c.shutdown("Too many messages per second") // not here: the hub and the tracker are locked
	}
}

// confirmEvery is how often a token is verified again, because keys may have changed.
const confirmEvery = 5 * time.Minute

// confirm ends the channel if its token has expired or is no longer accepted. The signature is
// verified again if verify is set, else every five minutes.
func (c *channel) confirm(now time.Time, verify bool) {
	c.tokenMu.Lock()
	held, due := c.claims, c.claims != nil &&
		(verify || !now.Before(c.claims.expires) || now.Sub(c.confirmed) > confirmEvery)
	if due {
		c.confirmed = now
	}
	c.tokenMu.Unlock()
	if !due || !c.joined.Load() {
		return
	}
	if _, err := c.s.e.authorize(held.token); err != nil {
		c.shutdown(tokenText(err))
	}
}

// tokenText returns the text for a client about a token that it uses on a channel.
func tokenText(err error) string {
	if refused, ok := err.(*tokenError); ok {
		return refused.text
	}
	return err.Error()
}

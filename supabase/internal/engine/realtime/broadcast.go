package realtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"daawo/supabase/internal/base/network"
	"daawo/supabase/internal/engine/realtime/changes"
	"daawo/supabase/internal/engine/realtime/messages"
	"daawo/supabase/internal/engine/realtime/phoenix"
)

// broadcast sends a client's broadcast to the other channels of the topic.
func (c *channel) broadcast(m phoenix.Message) {
	if !c.joined.Load() || c.key.private && !c.mayBroadcast() {
		return
	}
	e := c.s.e
	e.events.add(1)
	out, size := clientBroadcast(m)
	if out == nil {
		return
	}
	if !e.settings.Load().fits(size) {
		if c.ack {
			c.s.reply(c.joinRef, m.Ref, c.topic, "error", reason("payload_size_exceeded"))
		}
		return
	}
	if !e.mayRelay(c.s.networks, c.current(), e.relayKB(c.key, size)) {
		if c.ack {
			c.s.reply(c.joinRef, m.Ref, c.topic, "error", reason("client_broadcast_rate_exceeded"))
		}
		return
	}
	from := c
	if c.self {
		from = nil
	}
	e.broadcast(c.key, out, from)
	if c.ack {
		c.s.reply(c.joinRef, m.Ref, c.topic, "ok", emptyObject)
	}
}

// relayKB returns the kB that a broadcast of size bytes causes: one for each receiver on this
// replica.
func (e *Engine) relayKB(key topicKey, size int) float64 {
	return float64(size) / 1000 * float64(max(1, e.hub.count(key)))
}

// mayRelay counts kB of a client's broadcasts. It returns false if the client has sent too many.
// Holders of the secret key have no limit.
func (e *Engine) mayRelay(client []network.Part, identity *claims, kB float64) bool {
	if identity.role == "service_role" {
		return true
	}
	return e.clientKB.allow(client, kB, float64(e.settings.Load().MaxClientKBPerSecond), e.o.Now())
}

// clientBroadcast returns the message to other channels and the size of its payload, or nil if the
// payload is not an object.
func clientBroadcast(m phoenix.Message) (*message, int) {
	if m.User != nil {
		return &message{event: eventBroadcast, user: m.User}, len(m.User.Data)
	}
	if payload := bytes.TrimLeft(m.Payload, " \t\r\n"); len(payload) == 0 || payload[0] != '{' {
		return nil, 0
	}
	return &message{event: eventBroadcast, payload: m.Payload}, len(m.Payload)
}

// mayBroadcast checks the policies for writing, once per token.
func (c *channel) mayBroadcast() bool {
	if c.policies.writeBroadcast == unknown {
		ctx, cancel := c.databaseContext()
		defer cancel()
		grant, err := c.s.e.o.Messages.CanWrite(ctx, c.identity(), c.key.name, false)
		if err != nil {
			c.s.e.o.Log.Warn("broadcast was not checked", "error", err)
			return false
		}
		c.policies.writeBroadcast = verdictOf(grant.Broadcast)
	}
	return c.policies.writeBroadcast == allowed
}

// broadcast delivers m on all replicas, except to from.
func (e *Engine) broadcast(key topicKey, m *message, from *channel) {
	e.hub.publish(key, m, from)
	if e.o.Bus == nil {
		return
	}
	if err := e.o.Bus.Publish(broadcastSubject, encodeBroadcast(key, m)); err != nil {
		e.metrics.busErrors.Inc()
		e.o.Log.Debug("broadcast did not reach the other replicas", "error", err)
	}
}

// FromDatabase delivers a row of realtime.messages to the channels of this replica. Each replica
// reads the rows itself.
func (e *Engine) FromDatabase(b changes.Broadcast) {
	if b.Extension != eventBroadcast {
		return
	}
	e.events.add(1)
	m := &message{event: eventBroadcast, id: b.ID}
	meta := metaOf(b.ID, false)
	if b.Binary != nil {
		m.user, m.meta = &phoenix.UserBroadcast{Event: b.Event, Data: b.Binary}, meta
	} else {
		m.payload = phoenix.BroadcastPayload(b.Event, b.Payload, meta)
	}
	key := topicKey{b.Topic, b.Private}
	e.hub.publish(key, m, nil)
	if b.Private && b.Event == eventPolicies {
		recheckPolicies(e, b.XID, func() []*channel { return e.hub.members(key) })
	}
}

func metaOf(id string, replayed bool) []byte {
	meta := append(phoenix.AppendString([]byte(`{"id":`), id), '}')
	if replayed {
		meta = append(meta[:len(meta)-1], `,"replayed":true}`...)
	}
	return meta
}

// sendReplay sends stored broadcasts to this channel alone.
func (c *channel) sendReplay(stored []messages.Message) {
	for _, one := range stored {
		meta := metaOf(one.ID, true)
		if one.Binary == nil {
			c.push(eventBroadcast, nil, phoenix.BroadcastPayload(one.Event, one.Payload, meta))
			continue
		}
		m := &message{event: eventBroadcast, topic: c.topic,
			user: &phoenix.UserBroadcast{Event: one.Event, Data: one.Binary}, meta: meta}
		if frame := m.frame(c.s.version); frame != nil {
			c.s.send(frame)
		}
	}
}

// readyTimeout is how long a channel waits until broadcasts from the database arrive.
const readyTimeout = 10 * time.Second

// announceReplication tells the client when broadcasts from the database arrive, or ends the
// channel if they do not.
func (c *channel) announceReplication() {
	ctx, cancel := context.WithTimeout(c.s.e.ctx, readyTimeout)
	defer cancel()
	if stream := c.s.e.o.Changes; stream != nil && stream.Wait(ctx) == nil {
		c.system(eventSystem, "ok", "Replication connection established")
	} else if c.s.e.ctx.Err() == nil {
		c.shutdown("Replication connection was not established in time")
	}
}

const broadcastSubject = "broadcast"

// busBroadcast is the header of a broadcast between replicas. The body follows.
type busBroadcast struct {
	Topic   string          `json:"topic"`
	Private bool            `json:"private,omitempty"`
	User    bool            `json:"user,omitempty"` // the body is the payload of a user broadcast
	Event   string          `json:"event,omitempty"`
	JSON    bool            `json:"json,omitempty"`
	Meta    json.RawMessage `json:"meta,omitempty"`
}

func encodeBroadcast(key topicKey, m *message) []byte {
	head := busBroadcast{Topic: key.name, Private: key.private}
	body := []byte(m.payload)
	if m.user != nil {
		head.User, head.Event, head.JSON, head.Meta = true, m.user.Event, m.user.JSON, m.meta
		body = m.user.Data
	}
	header, _ := json.Marshal(head) // strings, booleans and valid JSON
	out := make([]byte, 0, 4+len(header)+len(body))
	out = binary.BigEndian.AppendUint32(out, uint32(len(header)))
	return append(append(out, header...), body...)
}

var errBusMessage = errors.New("message of another replica is malformed")

func decodeBroadcast(data []byte) (topicKey, *message, error) {
	if len(data) < 4 || uint64(binary.BigEndian.Uint32(data)) > uint64(len(data)-4) {
		return topicKey{}, nil, errBusMessage
	}
	split := 4 + int(binary.BigEndian.Uint32(data))
	var head busBroadcast
	if err := json.Unmarshal(data[4:split], &head); err != nil {
		return topicKey{}, nil, errBusMessage
	}
	m, body := &message{event: eventBroadcast}, data[split:]
	if head.User {
		m.user, m.meta = &phoenix.UserBroadcast{Event: head.Event, JSON: head.JSON, Data: body}, head.Meta
	} else {
		m.payload = body
	}
	if (!head.User || head.JSON) && !json.Valid(body) {
		return topicKey{}, nil, errBusMessage
	}
	return topicKey{head.Topic, head.Private}, m, nil
}

// receiveBroadcast delivers a broadcast of another replica.
func (e *Engine) receiveBroadcast(data []byte) {
	key, m, err := decodeBroadcast(data)
	if err != nil {
		e.o.Log.Warn("bus", "error", err)
		return
	}
	e.hub.publish(key, m, nil)
}

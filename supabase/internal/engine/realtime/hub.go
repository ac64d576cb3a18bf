package realtime

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"daawo/supabase/internal/engine/realtime/phoenix"
)

// topicKey names a topic without the prefix "realtime:". Private and public channels of the same
// name are separate topics.
type topicKey struct {
	name    string
	private bool
}

// String returns the name of the topic for presence.
func (k topicKey) String() string {
	if k.private {
		return "private:" + k.name
	}
	return "public:" + k.name
}

// parseTopicKey is the reverse of String.
func parseTopicKey(s string) topicKey {
	if name, ok := strings.CutPrefix(s, "private:"); ok {
		return topicKey{name, true}
	}
	name, _ := strings.CutPrefix(s, "public:")
	return topicKey{name, false}
}

// hub knows the channels of each topic on this replica.
type hub struct {
	mu     sync.RWMutex
	topics map[topicKey]*topic
}

type topic struct {
	mu      sync.RWMutex
	members map[*channel]struct{}
}

func newHub() *hub { return &hub{topics: map[topicKey]*topic{}} }

func (h *hub) add(key topicKey, c *channel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[key]
	if t == nil {
		t = &topic{members: map[*channel]struct{}{}}
		h.topics[key] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members[c] = struct{}{}
}

func (h *hub) remove(key topicKey, c *channel) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[key]
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.members, c)
	if len(t.members) == 0 {
		delete(h.topics, key)
	}
}

// members returns the channels of a topic.
func (h *hub) members(key topicKey) []*channel {
	h.mu.RLock()
	t := h.topics[key]
	h.mu.RUnlock()
	if t == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Keys(t.members))
}

// privateMembers returns the channels of all private topics.
func (h *hub) privateMembers() (all []*channel) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for key, t := range h.topics {
		if key.private {
			t.mu.RLock()
			all = slices.AppendSeq(all, maps.Keys(t.members))
			t.mu.RUnlock()
		}
	}
	return all
}

// count returns the number of channels of a topic.
func (h *hub) count(key topicKey) int {
	h.mu.RLock()
	t := h.topics[key]
	h.mu.RUnlock()
	if t == nil {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.members)
}

// publish delivers m to the channels of a topic, except from. One goroutine at a time may use m.
func (h *hub) publish(key topicKey, m *message, from *channel) {
	h.mu.RLock()
	t := h.topics[key]
	h.mu.RUnlock()
	if t == nil {
		return
	}
	m.topic = "realtime:" + key.name
	t.mu.RLock()
	defer t.mu.RUnlock()
	for c := range t.members {
		if c != from {
			c.deliver(m)
		}
	}
}

// Events that the server sends.
const (
	eventBroadcast     = "broadcast"
	eventPresenceDiff  = "presence_diff"
	eventPresenceState = "presence_state"
	eventChanges       = "postgres_changes"
	eventSystem        = "system"
	eventClose         = "phx_close"
)

// message is a message to all channels of a topic. Channels with the same serializer share the
// encoded frame.
type message struct {
	event   string
	payload json.RawMessage        // nil for a user broadcast
	user    *phoenix.UserBroadcast // instead of payload
	meta    json.RawMessage        // of a user broadcast; may be nil
	id      string                 // of a stored broadcast

	topic  string // as the clients know it; the hub sets it
	frames map[phoenix.Version][]byte
}

// frame returns the message for a serializer, or nil if the serializer cannot represent it.
func (m *message) frame(v phoenix.Version) []byte {
	if frame, ok := m.frames[v]; ok {
		return frame
	}
	var frame []byte
	if m.user == nil {
		frame = newFrame(false, len(m.payload)+len(m.topic)+96, func(dst []byte) []byte {
			return v.AppendMessage(dst, nil, nil, m.topic, m.event, m.payload)
		})
	} else if text, isBinary, ok := v.AppendUserBroadcast(nil, m.topic, *m.user, m.meta); ok {
		frame = newFrame(isBinary, len(text), func(dst []byte) []byte { return append(dst, text...) })
	}
	if m.frames == nil {
		m.frames = map[phoenix.Version][]byte{}
	}
	m.frames[v] = frame
	return frame
}

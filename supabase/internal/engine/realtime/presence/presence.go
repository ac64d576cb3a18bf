// Package presence keeps which members are present on a topic, on this replica and on others, and
// reports the differences.
package presence

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"daawo/supabase/internal/engine/realtime/bus"
)

// ErrPayload is the error of Track for a payload that is not a JSON object.
var ErrPayload = errors.New("presence payload is not an object")

// Times of the protocol between replicas. A replica that is silent for silentFor counts as dead,
// and its members leave.
const (
	heartbeatEvery = time.Second
	silentFor      = 3500 * time.Millisecond
)

// Options configures a Tracker.
type Options struct {
	Bus bus.Bus // nil for a single replica
	Log *slog.Logger
	Now func() time.Time
	// called in the order of the changes, under a lock of the tracker: it must not call it
	OnDiff func(topic string, diff Diff)
}

// Diff says which members joined and left. An update is both.
type Diff struct{ Joins, Leaves map[string][]json.RawMessage }

// JSON returns the payload of the event presence_diff.
func (d Diff) JSON() json.RawMessage {
	out := append([]byte(`{"joins":`), state(d.Joins)...)
	out = append(out, `,"leaves":`...)
	out = append(out, state(d.Leaves)...)
	return append(out, '}')
}

// member is one presence of a channel. Its JSON is sent to other replicas.
type member struct {
	ID    uint64          `json:"i"` // unique on its replica
	Topic string          `json:"t"`
	Key   string          `json:"k"`
	Ref   string          `json:"r"`
	Meta  json.RawMessage `json:"m"` // the payload with phx_ref
}

// Tracker knows the members of all topics. It is safe for concurrent use.
type Tracker struct {
	o    Options
	node string
	done chan struct{}
	wait sync.WaitGroup

	mu       sync.Mutex
	own      map[uint64]*member
	topics   map[string][]*member // members of all replicas, in the order of their arrival
	replicas map[string]*replica
	clock    uint64 // of the last change that this replica published
	ticked   time.Time
	closed   bool
}

// New returns a Tracker. Call Close when it is no longer needed.
func New(o Options) (*Tracker, error) {
	t := &Tracker{
		o: o, node: newNode(), done: make(chan struct{}),
		own: map[uint64]*member{}, topics: map[string][]*member{}, replicas: map[string]*replica{},
	}
	if o.Bus == nil {
		return t, nil
	}
	return t, t.join()
}

func newNode() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// Track adds the presence id to a topic, or replaces its payload. id is unique on this replica and
// keeps its topic and key.
func (t *Tracker) Track(id uint64, topic, key string, payload json.RawMessage) error {
	var meta map[string]json.RawMessage
	if err := json.Unmarshal(payload, &meta); err != nil || meta == nil {
		return ErrPayload
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	old := t.own[id]
	ref := newRef()
	delete(meta, "phx_ref_prev")
	meta["phx_ref"], _ = json.Marshal(ref) // a string
	if old != nil {
		meta["phx_ref_prev"], _ = json.Marshal(old.Ref)
	}
	encoded, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	m := &member{ID: id, Topic: topic, Key: key, Ref: ref, Meta: encoded}
	diff := Diff{Joins: metas(m)}
	if old != nil {
		diff.Leaves = metas(old)
	}
	t.own[id] = m
	t.replace(old, m)
	t.publish(change{Join: m})
	t.o.OnDiff(topic, diff)
	return nil
}

// Untrack removes a presence. It does nothing if there is none with this id.
func (t *Tracker) Untrack(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.own[id]
	if m == nil {
		return
	}
	delete(t.own, id)
	t.replace(m, nil)
	t.publish(change{Leave: id})
	t.o.OnDiff(m.Topic, Diff{Leaves: metas(m)})
}

// State returns the members of a topic as the payload of the event presence_state.
func (t *Tracker) State(topic string) json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return state(group(t.topics[topic]))
}

// Members returns the number of members on all replicas.
func (t *Tracker) Members() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, members := range t.topics {
		n += len(members)
	}
	return n
}

// Close tells the other replicas that the members of this one have left.
func (t *Tracker) Close() {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	if t.o.Bus != nil {
		t.send(packet{Kind: kindBye})
	}
	t.mu.Unlock()
	close(t.done)
	t.wait.Wait()
}

// newRef returns a random phx_ref.
func newRef() string {
	var id [9]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.StdEncoding.EncodeToString(id[:])
}

// replace removes old and adds m. Either may be nil. The caller holds mu.
func (t *Tracker) replace(old, m *member) {
	if old != nil {
		members := slices.DeleteFunc(t.topics[old.Topic], func(other *member) bool { return other == old })
		if len(members) == 0 {
			delete(t.topics, old.Topic)
		} else {
			t.topics[old.Topic] = members
		}
	}
	if m != nil {
		t.topics[m.Topic] = append(t.topics[m.Topic], m)
	}
}

func metas(m *member) map[string][]json.RawMessage {
	return map[string][]json.RawMessage{m.Key: {m.Meta}}
}

func group(members []*member) map[string][]json.RawMessage {
	out := make(map[string][]json.RawMessage, len(members))
	for _, m := range members {
		out[m.Key] = append(out[m.Key], m.Meta)
	}
	return out
}

// state encodes metas by key as Phoenix does.
func state(byKey map[string][]json.RawMessage) json.RawMessage {
	type entry struct {
		Metas []json.RawMessage `json:"metas"`
	}
	entries := make(map[string]entry, len(byKey))
	for key, list := range byKey {
		entries[key] = entry{list}
	}
	out, err := json.Marshal(entries)
	if err != nil {
		return json.RawMessage("{}") // not possible: all metas are valid JSON
	}
	return out
}

package presence

import (
	"encoding/json"
	"time"
)

// Each replica publishes the changes of its own members with a clock that counts them, and a
// heartbeat with the clock. A replica that missed a change, or that is new, asks for the whole
// state.

const subject = "presence"

// replica is what is known about another replica.
type replica struct {
	members map[uint64]*member
	clock   uint64
	heard   time.Time
	asked   time.Time // when its state was last requested
	known   bool      // its state has arrived
}

type kind string

const (
	kindChange    kind = "change"
	kindHeartbeat kind = "heartbeat"
	kindState     kind = "state"
	kindAsk       kind = "ask"
	kindBye       kind = "bye"
)

// packet is a message between replicas.
type packet struct {
	Kind   kind      `json:"kind"`
	Node   string    `json:"node"` // the sender
	Clock  uint64    `json:"clock"`
	To     string    `json:"to,omitempty"` // of an ask: the node whose state is requested; "" means all
	Change *change   `json:"change,omitempty"`
	State  []*member `json:"state,omitempty"`
}

// change is a join or update, or a leave by id.
type change struct {
	Join  *member `json:"join,omitempty"`
	Leave uint64  `json:"leave,omitempty"`
}

// askAgain is how long a replica waits for a requested state.
const askAgain = time.Second

func (t *Tracker) join() error {
	if err := t.o.Bus.Subscribe(subject, t.receive); err != nil {
		return err
	}
	hello := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.send(packet{Kind: kindAsk})
		t.send(packet{Kind: kindHeartbeat})
	}
	t.o.Bus.OnReconnect(hello)
	hello()
	t.wait.Add(1)
	go t.beat()
	return nil
}

func (t *Tracker) beat() {
	defer t.wait.Done()
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-ticker.C:
			t.tick()
		}
	}
}

// tick sends a heartbeat and looks for silent replicas. If the last tick is long ago, this process
// or its machine stood still: the others may have sent heartbeats that it has not received yet, so
// it looks at the next tick.
func (t *Tracker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(packet{Kind: kindHeartbeat})
	now := t.o.Now()
	if now.Sub(t.ticked) < 2*heartbeatEvery {
		t.bury()
	}
	t.ticked = now
}

// bury removes the members of silent replicas. While this replica is disconnected from the bus
// itself, all others are silent; their members leave, too, and return with the next state. The
// caller holds mu.
func (t *Tracker) bury() {
	for node, r := range t.replicas {
		if t.o.Now().Sub(r.heard) > silentFor {
			t.o.Log.Warn("replica is silent; its members leave", "replica", node)
			t.reset(r, nil)
			delete(t.replicas, node)
		}
	}
}

// publish sends a change of an own member. The caller holds mu.
func (t *Tracker) publish(c change) {
	if t.o.Bus == nil {
		return
	}
	t.clock++
	t.send(packet{Kind: kindChange, Change: &c})
}

// send sends a packet. Errors are logged only: the next heartbeat shows a gap, which makes the
// others ask for the state.
func (t *Tracker) send(p packet) {
	p.Node, p.Clock = t.node, t.clock
	data, err := json.Marshal(p)
	if err == nil {
		err = t.o.Bus.Publish(subject, data)
	}
	if err != nil {
		t.o.Log.Debug("presence was not published", "error", err)
	}
}

func (t *Tracker) receive(data []byte) {
	var p packet
	if err := json.Unmarshal(data, &p); err != nil || p.Node == "" || p.Node == t.node {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if p.Kind == kindBye {
		if r := t.replicas[p.Node]; r != nil {
			t.reset(r, nil)
			delete(t.replicas, p.Node)
		}
		return
	}
	r := t.replicas[p.Node]
	if r == nil {
		r = &replica{members: map[uint64]*member{}}
		t.replicas[p.Node] = r
	}
	r.heard = t.o.Now()
	switch p.Kind {
	case kindAsk:
		if p.To == "" || p.To == t.node {
			t.sendState()
		}
	case kindState:
		r.known, r.clock = true, p.Clock
		t.reset(r, p.State)
	case kindChange:
		if !r.known || p.Clock != r.clock+1 || p.Change == nil {
			t.ask(p.Node, r)
			return
		}
		r.clock = p.Clock
		t.apply(r, *p.Change)
	case kindHeartbeat:
		if !r.known || p.Clock != r.clock {
			t.ask(p.Node, r)
		}
	}
}

// ask requests the state of a replica. The caller holds mu.
func (t *Tracker) ask(node string, r *replica) {
	if now := t.o.Now(); now.Sub(r.asked) >= askAgain {
		r.asked = now
		t.send(packet{Kind: kindAsk, To: node})
	}
}

// sendState publishes all own members. The caller holds mu.
func (t *Tracker) sendState() {
	p := packet{Kind: kindState}
	for _, m := range t.own {
		p.State = append(p.State, m)
	}
	t.send(p)
}

// apply applies a change of another replica. The caller holds mu.
func (t *Tracker) apply(r *replica, c change) {
	if c.Join == nil {
		if old := r.members[c.Leave]; old != nil {
			delete(r.members, c.Leave)
			t.replace(old, nil)
			t.o.OnDiff(old.Topic, Diff{Leaves: metas(old)})
		}
		return
	}
	m := c.Join
	old := r.members[m.ID]
	diff := Diff{Joins: metas(m)}
	if old != nil {
		diff.Leaves = metas(old)
	}
	r.members[m.ID] = m
	t.replace(old, m)
	t.o.OnDiff(m.Topic, diff)
}

// reset makes members the state of a replica, and reports one difference per topic. The caller
// holds mu.
func (t *Tracker) reset(r *replica, members []*member) {
	next := make(map[uint64]*member, len(members))
	diffs := map[string]*Diff{}
	of := func(topic string) *Diff {
		d := diffs[topic]
		if d == nil {
			d = &Diff{Joins: map[string][]json.RawMessage{}, Leaves: map[string][]json.RawMessage{}}
			diffs[topic] = d
		}
		return d
	}
	for _, m := range members {
		next[m.ID] = m
		old := r.members[m.ID]
		if old != nil && old.Ref == m.Ref {
			next[m.ID] = old
			continue
		}
		d := of(m.Topic)
		d.Joins[m.Key] = append(d.Joins[m.Key], m.Meta)
		if old != nil {
			d.Leaves[old.Key] = append(d.Leaves[old.Key], old.Meta)
		}
		t.replace(old, m)
	}
	for id, old := range r.members {
		if next[id] == nil {
			d := of(old.Topic)
			d.Leaves[old.Key] = append(d.Leaves[old.Key], old.Meta)
			t.replace(old, nil)
		}
	}
	r.members = next
	for topic, d := range diffs {
		t.o.OnDiff(topic, *d)
	}
}

// Package bus carries broadcasts and presence between the replicas of Realtime.
package bus

import "sync"

// Bus delivers what one replica publishes to the other replicas, not to itself. Messages of one
// replica on one subject arrive in order. Messages are lost while the bus is not connected.
type Bus interface {
	// Publish sends data to the other replicas. It does not wait for them.
	Publish(subject string, data []byte) error
	// Subscribe calls fn with each message of another replica, one call at a time. fn may keep
	// data.
	Subscribe(subject string, fn func(data []byte)) error
	// OnReconnect adds a function that is called after the bus was disconnected, because messages
	// were lost then.
	OnReconnect(fn func())
	// Ready returns nil if the bus is connected, or why it is not.
	Ready() error
	Close()
}

// Hub connects several buses in one process.
type Hub struct {
	mu    sync.Mutex
	buses map[*local]bool
}

// NewHub returns a hub without buses.
func NewHub() *Hub { return &Hub{buses: map[*local]bool{}} }

// Join returns a bus that is connected to the other buses of the hub.
func (h *Hub) Join() Bus {
	b := &local{hub: h, subscribers: map[string][]func([]byte){}}
	b.wake = sync.NewCond(&b.mu)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buses[b] = true
	go b.run()
	return b
}

type delivery struct {
	subject string
	data    []byte
}

// local is a bus within the process.
type local struct {
	hub *Hub

	mu          sync.Mutex
	wake        *sync.Cond
	inbox       []delivery
	closed      bool
	subscribers map[string][]func([]byte)
}

func (b *local) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		for len(b.inbox) == 0 && !b.closed {
			b.wake.Wait()
		}
		if b.closed {
			return
		}
		next := b.inbox[0]
		b.inbox = b.inbox[1:]
		subscribers := b.subscribers[next.subject]
		b.mu.Unlock()
		for _, fn := range subscribers {
			fn(next.data)
		}
		b.mu.Lock()
	}
}

func (b *local) Publish(subject string, data []byte) error {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	for other := range b.hub.buses {
		if other != b {
			other.mu.Lock()
			other.inbox = append(other.inbox, delivery{subject, data})
			other.wake.Signal()
			other.mu.Unlock()
		}
	}
	return nil
}

func (b *local) Subscribe(subject string, fn func([]byte)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers[subject] = append(b.subscribers[subject], fn)
	return nil
}

func (b *local) OnReconnect(func()) {}

func (b *local) Ready() error { return nil }

func (b *local) Close() {
	b.hub.mu.Lock()
	delete(b.hub.buses, b)
	b.hub.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake.Signal()
}

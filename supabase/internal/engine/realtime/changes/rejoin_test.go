package changes

import (
	"context"
	"testing"
)

// TestCancelledRejoin: a subscriber that leaves while it gets what it missed is removed.
func TestCancelledRejoin(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	box, id := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	since := &Since{Position: box.take()[0].Position}
	d.Exec(`insert into notes (id) values (2)`)
	settle(t, d, s)
	s.Unsubscribe(id)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := s.Subscribe(ctx, Subscriber{Role: "service_role", Claims: service, Since: since,
			Bindings: []Binding{{Schema: "public", Table: "notes", Event: "*"}}, Joined: func(uint64, string) {},
			Deliver: func(Change) { cancel(); <-ended }})
		if err == nil {
			t.Error("subscribed after the client had left")
		}
	}()
	<-ended
	settle(t, d, s)
	if n := s.registry.count(); n != 0 {
		t.Errorf("%d subscribers are left", n)
	}
}

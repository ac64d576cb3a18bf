package realtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/engine/realtime/changes"
)

// stream is a Changes that records its subscribers.
type stream struct {
	mu          sync.Mutex
	errs        []error // of the next calls of Subscribe
	last        int64
	subscribers map[int64]changes.Subscriber
	roles       []string
	held        int
	visible     chan struct{}
}

func (s *stream) Subscribe(_ context.Context, sub changes.Subscriber) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return 0, err
	}
	s.last++
	s.subscribers[s.last] = sub
	s.roles = append(s.roles, sub.Role)
	if sub.Since != nil {
		sub.Joined(0x1000, "forgotten")
	}
	return s.last, nil
}

func (s *stream) Unsubscribe(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscribers, id)
}

func (s *stream) SetClaims(_ context.Context, id int64, role string, _ map[string]any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.roles = append(s.roles, role)
	if role == "gone" {
		delete(s.subscribers, id)
		return errors.New("no such role")
	}
	return nil
}

func (s *stream) Hold() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
	}
}

func (s *stream) Wait(context.Context) error { return nil }

// AwaitVisible waits for visible, unless that is nil.
func (s *stream) AwaitVisible(ctx context.Context, _ uint32) error {
	if s.visible != nil {
		select {
		case <-s.visible:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (s *stream) Lag() (int64, time.Time) { return 0, time.Time{} }

func (s *stream) Ready() error { return nil }

func (s *stream) deliver(c changes.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subscribers {
		c.IDs = nil
		for _, b := range sub.Bindings {
			c.IDs = append(c.IDs, b.ID)
		}
		sub.Deliver(c)
	}
}

func (s *stream) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subscribers {
		sub.Resumed("the connection to the database was lost", 0x2_0000_0011)
	}
}

func (s *stream) state() (subscribers, held int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subscribers), s.held
}

// since returns from where a subscriber wants changes.
func (s *stream) since(id int64) *changes.Since {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribers[id].Since
}

// asked returns the roles of all calls.
func (s *stream) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.roles, " ")
}

// TestRejoinChannel: a channel that names since where it wants changes gets their positions.
func TestRejoinChannel(t *testing.T) {
	db := &stream{subscribers: map[int64]changes.Subscriber{}}
	s := serve(t, func(o *Options) { o.Changes = db })
	c := connect(t, s)
	binding := `{"event":"*","schema":"public","table":"notes","since":"%s"}`
	c.join("realtime:c", fmt.Sprintf(`{"config":{"postgres_changes":[`+binding+`,`+binding+`]}}`, "1/20", "0/F00"))
	c.want(`"message":"Subscribed to PostgreSQL","position":"0/1000","reason":"forgotten","status":"ok"`)
	if since := db.since(1); since == nil || since.Position != 0xf00 {
		t.Errorf("since %v", since)
	}
	db.deliver(changes.Change{Type: "INSERT", Position: 0x2_0000_0010, Data: json.RawMessage(`{"type":"INSERT"}`)})
	c.want(`"data":{"type":"INSERT"},"ids":[`, `],"position":"2/10"}`)
	db.resume()
	c.want(`"position":"2/11"`)
	for _, wrong := range []string{"yesterday", "1/2/3"} {
		c.join("realtime:"+wrong, fmt.Sprintf(`{"config":{"postgres_changes":[`+binding+`]}}`, wrong))
		c.want("Error parsing `since` params: ")
	}
}

func TestPostgresChanges(t *testing.T) {
	db := &stream{subscribers: map[int64]changes.Subscriber{}}
	s := serve(t, func(o *Options) { o.Changes = db })
	c, old := connect(t, s), connect(t, s)
	got := c.join("realtime:c",
		`{"config":{"postgres_changes":[{"event":"*","schema":"public","table":"notes"},null,{"event":"INSERT","schema":"public"}]}}`)
	var reply []json.RawMessage
	var response struct {
		Response struct {
			Changes []struct {
				ID    int64
				Event string
				Table string
			} `json:"postgres_changes"`
		}
	}
	if err := errors.Join(json.Unmarshal([]byte(got), &reply), json.Unmarshal(reply[4], &response)); err != nil {
		t.Fatal(err)
	}
	list := response.Response.Changes
	if len(list) != 2 || list[0].Event != "*" || list[0].Table != "notes" || list[0].ID == list[1].ID {
		t.Errorf("join: %s", got)
	}
	c.want(`"system",{"channel":"c","extension":"postgres_changes","message":"Subscribed to PostgreSQL","status":"ok"}`)
	old.join("realtime:public:notes", `{}`)
	old.want("Subscribed to PostgreSQL")
	db.deliver(changes.Change{Type: "INSERT", Data: json.RawMessage(`{"type":"INSERT"}`)})
	c.want(fmt.Sprintf(`[null,null,"realtime:c","postgres_changes",{"data":{"type":"INSERT"},"ids":[%d,%d]}]`,
		list[0].ID, list[1].ID))
	old.want(`[null,null,"realtime:public:notes","INSERT",{"type":"INSERT"}]`)

	db.resume() // the connection to the database was lost
	for _, client := range []*client{c, old} {
		client.want("Subscribed to PostgreSQL")
	}
	c.send("realtime:c", "access_token", `{"access_token":"`+sign(t, "authenticated", nil)+`"}`)
	c.want("Subscribed to PostgreSQL")
	// another subscription replaces the old
	c.send("realtime:c", "access_token", `{"access_token":"`+sign(t, "gone", nil)+`"}`)
	c.want("Subscribed to PostgreSQL")
	if roles := db.asked(); roles != "anon anon authenticated gone gone" {
		t.Errorf("roles: %s", roles)
	}
	if n, held := db.state(); n != 2 || held != 1 {
		t.Errorf("%d subscribers, %d holds", n, held)
	}
	c.send("realtime:c", "phx_leave", `{}`)
	c.want("phx_close")
	_ = old.conn.CloseNow()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if n, held := db.state(); n == 0 && held == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("subscribers remain")
		}
	}
}

func TestPostgresChangesErrors(t *testing.T) {
	db := &stream{subscribers: map[int64]changes.Subscriber{}, errs: []error{
		&changes.SubscribeError{Message: "final"}, errors.New("passing, with a secret"), errors.New("passing"),
	}}
	s := serve(t, func(o *Options) { o.Changes = db })
	c := connect(t, s)
	c.join("realtime:a", `{"config":{"postgres_changes":[{"event":"*","schema":"public"}]}}`)
	c.want(`"realtime:a","system",{"channel":"a","extension":"postgres_changes","message":"final","status":"error"}`)
	c.join("realtime:b", `{"config":{"postgres_changes":[{"event":"*","schema":"public"}]}}`)
	if got := c.want(`"realtime:b","system"`, `"status":"error"`); strings.Contains(got, "secret") {
		t.Errorf("the error of the database reaches the client: %s", got)
	}
	c.send("realtime:b", "phx_leave", `{}`) // ends the retries
	c.want("phx_close")
	c.join("realtime:d", `{"config":{"postgres_changes":[{"event":"*","schema":"public"}]}}`)
	c.want(`"realtime:d","system"`, `"status":"error"`)
	c.want(`"realtime:d","system"`, "Subscribed to PostgreSQL")
	if got := c.join("realtime:c", `{"config":{"postgres_changes":[7]}}`); !strings.Contains(got, `"status":"error"`) {
		t.Errorf("a number as binding: %s", got)
	}
	many := strings.Repeat(`{"event":"*"},`, maxBindings) + `{"event":"*"}`
	if got := c.join("realtime:e", `{"config":{"postgres_changes":[`+many+`]}}`); !strings.Contains(got,
		"InvalidJoinPayload: More than 100 postgres_changes") {
		t.Errorf("too many bindings: %s", got)
	}
	none := serve(t, nil)
	d := connect(t, none)
	d.join("realtime:a", `{"config":{"postgres_changes":[{"event":"*","schema":"public"}]}}`)
	d.want(`Postgres changes are not available on this server`)
}

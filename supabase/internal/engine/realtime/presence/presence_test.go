package presence

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/engine/realtime/bus"
)

// view applies diffs as a client does.
type view struct {
	mu     sync.Mutex
	topics map[string]map[string]string // phx_ref to key, by topic
}

func (v *view) apply(topic string, d Diff) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.topics[topic] == nil {
		v.topics[topic] = map[string]string{}
	}
	for _, list := range d.Leaves {
		for _, meta := range list {
			delete(v.topics[topic], refOf(meta))
		}
	}
	for key, list := range d.Joins {
		for _, meta := range list {
			v.topics[topic][refOf(meta)] = key
		}
	}
}

func (v *view) count(topic string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.topics[topic])
}

func (v *view) equals(topic string, want map[string]string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Equal(v.topics[topic], want)
}

func refOf(meta json.RawMessage) string {
	var m struct {
		Ref string `json:"phx_ref"`
	}
	_ = json.Unmarshal(meta, &m)
	return m.Ref
}

func newTracker(t *testing.T, b bus.Bus) (*Tracker, *view) {
	t.Helper()
	v := &view{topics: map[string]map[string]string{}}
	tracker, err := New(Options{Bus: b, Log: slog.New(slog.DiscardHandler), Now: time.Now, OnDiff: v.apply})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tracker.Close)
	return tracker, v
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !check(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

func TestTrack(t *testing.T) {
	var diffs []string
	tracker, err := New(Options{Log: slog.New(slog.DiscardHandler), Now: time.Now, OnDiff: func(topic string, d Diff) {
		diffs = append(diffs, topic+" "+string(d.JSON()))
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`[]`, `1`, `null`, `{`} {
		if err := tracker.Track(1, "a", "k", json.RawMessage(bad)); !errors.Is(err, ErrPayload) {
			t.Errorf("%s: got %v", bad, err)
		}
	}
	if err := tracker.Track(1, "a", "k", json.RawMessage(`{"x":1,"phx_ref":"forged"}`)); err != nil {
		t.Fatal(err)
	}
	first := tracker.own[1].Ref
	if err := tracker.Track(1, "a", "k", json.RawMessage(`{"x":2}`)); err != nil {
		t.Fatal(err)
	}
	second := tracker.own[1].Ref
	if got, want := string(tracker.State("a")),
		fmt.Sprintf(`{"k":{"metas":[{"phx_ref":%q,"phx_ref_prev":%q,"x":2}]}}`, second, first); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tracker.Untrack(1)
	tracker.Untrack(1)
	want := []string{
		fmt.Sprintf(`a {"joins":{"k":{"metas":[{"phx_ref":%q,"x":1}]}},"leaves":{}}`, first),
		fmt.Sprintf(`a {"joins":{"k":{"metas":[{"phx_ref":%[2]q,"phx_ref_prev":%[1]q,"x":2}]}},"leaves":{"k":{"metas":[{"phx_ref":%[1]q,"x":1}]}}}`, first, second),
		fmt.Sprintf(`a {"joins":{},"leaves":{"k":{"metas":[{"phx_ref":%[2]q,"phx_ref_prev":%[1]q,"x":2}]}}}`, first,
			second),
	}
	if strings.Join(diffs, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(diffs, "\n"), strings.Join(want, "\n"))
	}
	if got := string(tracker.State("a")); got != "{}" || tracker.Members() != 0 {
		t.Errorf("after the last leave: %s", got)
	}
}

// lossy drops a part of the messages.
type lossy struct {
	bus.Bus
	mu   sync.Mutex
	loss float64
}

func (l *lossy) Publish(subject string, data []byte) error {
	l.mu.Lock()
	drop := rand.Float64() < l.loss
	l.mu.Unlock()
	if drop {
		return nil
	}
	return l.Bus.Publish(subject, data)
}

func (l *lossy) set(loss float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loss = loss
}

func TestReplicasAgree(t *testing.T) {
	hub := bus.NewHub()
	var trackers []*Tracker
	var views []*view
	var buses []*lossy
	for range 3 {
		b := &lossy{Bus: hub.Join(), loss: 0.3}
		t.Cleanup(b.Close)
		tracker, v := newTracker(t, b)
		trackers, views, buses = append(trackers, tracker), append(views, v), append(buses, b)
	}
	for i := range 200 {
		tracker := trackers[i%3]
		id := uint64(rand.IntN(20) + 1)
		if rand.IntN(3) == 0 {
			tracker.Untrack(id)
		} else if err := tracker.Track(id, fmt.Sprint("topic", id%4), fmt.Sprint("key", id),
			json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range buses {
		b.set(0)
	}
	eventually(t, "agreement", func() bool {
		for topic := range 4 {
			name := fmt.Sprint("topic", topic)
			want := keys(trackers[0].State(name))
			for i, tracker := range trackers {
				if !maps.Equal(keys(tracker.State(name)), want) || !views[i].equals(name, want) {
					return false
				}
			}
		}
		return true
	})
}

// keys returns the key of each ref in a state.
func keys(state json.RawMessage) map[string]string {
	var entries map[string]struct {
		Metas []json.RawMessage `json:"metas"`
	}
	_ = json.Unmarshal(state, &entries)
	byRef := map[string]string{}
	for key, entry := range entries {
		for _, meta := range entry.Metas {
			byRef[refOf(meta)] = key
		}
	}
	return byRef
}

// TestStalledReplica: a process that stood still does not take the others for dead, but finds a
// dead one at the next tick.
func TestStalledReplica(t *testing.T) {
	now := time.Now()
	v := &view{topics: map[string]map[string]string{}}
	tracker, err := New(Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		OnDiff: v.apply})
	if err != nil {
		t.Fatal(err)
	}
	b := bus.NewHub().Join()
	defer b.Close()
	tracker.o.Bus = b // without the timer of a tracker that joined it
	state := packet{Kind: kindState,
		State: []*member{{ID: 1, Topic: "topic", Key: "key", Ref: "r", Meta: json.RawMessage(`{"phx_ref":"r"}`)}}}
	for _, node := range []string{"alive", "dead"} {
		state.Node = node
		state.State[0].Ref, state.State[0].Meta = node, json.RawMessage(`{"phx_ref":"`+node+`"}`)
		data, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		tracker.receive(data)
	}
	pass := func(d time.Duration) { now = now.Add(d); tracker.tick() }
	pass(time.Second)
	pass(10 * time.Second)
	if got := v.count("topic"); got != 2 {
		t.Errorf("after a pause of this process: %d members", got)
	}
	tracker.receive([]byte(`{"kind":"heartbeat","node":"alive"}`))
	pass(time.Second)
	if !v.equals("topic", map[string]string{"alive": "key"}) {
		t.Errorf("at the next tick: %v", v.topics)
	}
}

func TestKilledReplicaLeaves(t *testing.T) {
	hub := bus.NewHub()
	first, killed := &lossy{Bus: hub.Join()}, &lossy{Bus: hub.Join()}
	t.Cleanup(first.Close)
	t.Cleanup(killed.Close)
	a, seen := newTracker(t, first)
	b, _ := newTracker(t, killed)
	if err := b.Track(1, "topic", "key", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "join", func() bool { return seen.count("topic") == 1 })
	killed.set(1) // nothing arrives any more, also not the farewell
	eventually(t, "leave", func() bool { return seen.count("topic") == 0 && string(a.State("topic")) == "{}" })
	killed.set(0)
	eventually(t, "return", func() bool { return seen.count("topic") == 1 })
	b.Close()
	eventually(t, "farewell", func() bool { return seen.count("topic") == 0 })
}

package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// TestSlot: the slot exists while a table is published, and is dropped when the stream ends.
func TestSlot(t *testing.T) {
	d, s := open(t, func(o *Options) { o.IdleAfter = 20 * time.Millisecond })
	if err := s.Ready(); !errors.Is(err, errIdle) || slots(d) != 0 {
		t.Errorf("before the first need: %v, %d slots", err, slots(d))
	}
	d.Exec(notes)
	_, id := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	s.Unsubscribe(id)
	time.Sleep(200 * time.Millisecond)
	if err := s.Ready(); err != nil || slots(d) != 1 {
		t.Errorf("without subscribers: %v, %d slots", err, slots(d))
	}
	d.Exec(`alter publication supabase_realtime drop table notes`)
	watcher{s}.lookForTables(t.Context()) // otherwise within ten seconds
	eventually(t, "the slot is dropped", func() bool { return slots(d) == 0 })
	if err := s.Ready(); !errors.Is(err, errIdle) {
		t.Errorf("idle: %v", err)
	}
	// It connects again.
	d.Exec(`alter publication supabase_realtime add table notes`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	eventually(t, "a change after the pause", func() bool { return len(box.take()) == 1 })
}

// TestSlotThatAnotherReads: a slot was free when this server found it, and another one began to
// read it. This one takes a slot of its own.
func TestSlotThatAnotherReads(t *testing.T) {
	d, first := open(t, nil)
	d.Exec(notes)
	subscribe(t, first, "service_role", service, Binding{Table: "notes"})
	pool, err := pool.Open(t.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := Open(Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.held = slot{name: slotKeeper{s}.slotName()}
	c, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer slotKeeper{s}.endSlot(t.Context())
	defer c.close()
	if c.slot == (slotKeeper{s}).slotName() || slots(d) != 2 {
		t.Errorf("reads %s, %d slots", c.slot, slots(d))
	}
}

// cut ends the replication connection.
func cut(t *testing.T, d *testdb.DB, s *Stream) {
	t.Helper()
	pid := testdb.Value[int](d, `select active_pid from pg_replication_slots where database = current_database()`)
	d.ExecAs("supabase_admin", `select pg_terminate_backend($1)`, pid)
	eventually(t, "the end of the connection", func() bool {
		return testdb.Value[int](d, `
		select count(*) from pg_replication_slots where database = current_database() and active_pid = $1`, pid) == 0
	})
}

// connected waits for a connection.
func connected(t *testing.T, d *testdb.DB, s *Stream) {
	t.Helper()
	eventually(t, "another connection", func() bool {
		return s.Ready() == nil && testdb.Value[bool](d,
			`select coalesce(bool_or(active), false) from pg_replication_slots where database = current_database()`)
	})
}

// TestReconnect kills the connection. No change is missed or comes twice. If the slot is gone, too,
// the subscribers are told.
func TestReconnect(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	var resumed atomic.Int64
	_, err := s.Subscribe(t.Context(), Subscriber{
		Role: "service_role", Claims: service,
		Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}}, Deliver: func(Change) {},
		Resumed: func(string, uint64) { resumed.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		d.Exec(`insert into notes (id) values ($1)`, 10*n)
		cut(t, d, s)
		d.Exec(`insert into notes (id) values ($1)`, 10*n+1)
		connected(t, d, s)
		d.Exec(`insert into notes (id) values ($1)`, 10*n+2)
		settle(t, d, s)
		row := func(n int) string {
			return fmt.Sprintf(`INSERT [1] {"id":%d,"body":null,"done":false,"owner":null}`, n)
		}
		expect(t, box, row(10*n), row(10*n+1), row(10*n+2))
	}
	if got := resumed.Load(); got != 0 {
		t.Errorf("told %d times", got)
	}
	name := testdb.Value[string](d, `select slot_name::text from pg_replication_slots where database = current_database()`)
	for dropped := false; !dropped; { // before the stream connects again
		cut(t, d, s)
		_, err := d.Conn("supabase_admin").Exec(t.Context(), `select pg_drop_replication_slot($1)`, name)
		dropped = err == nil
	}
	eventually(t, "the message", func() bool { return resumed.Load() == 1 })
}

// TestKilledServer: a server that was killed reads on from the slot that it left behind.
func TestKilledServer(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	d.ExecAs("supabase_admin", `select pg_create_logical_replication_slot($1, 'pgoutput')`, slotKeeper{s}.slotName())
	d.Exec(`insert into notes (id) values (1)`)
	var got []string
	box := &inbox{}
	_, err := s.Subscribe(t.Context(), Subscriber{Role: "service_role", Claims: service, Deliver: box.deliver,
		Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}},
		Since:    &Since{Time: time.Now().Add(-time.Minute)}, Joined: func(_ uint64, reason string) { got = append(got, reason) }})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, d, s)
	t.Log(got)
	if changes := box.take(); len(changes) > 1 || slots(d) != 1 {
		t.Errorf("%d changes, %d slots", len(changes), slots(d))
	}
	_, err = s.Subscribe(t.Context(), Subscriber{Role: "service_role", Claims: service, Deliver: box.deliver,
		Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}},
		Since:    &Since{Position: s.ring.floor}, Joined: func(_ uint64, reason string) { got = []string{reason} }})
	if err != nil {
		t.Fatal(err)
	}
	if changes := box.take(); len(changes) != 1 || got[0] != "" {
		t.Errorf("%d changes, %q", len(changes), got)
	}
}

// TestRejoin: a subscriber that comes again gets what it missed, as its policies allow.
func TestRejoin(t *testing.T) {
	d, s := open(t, func(o *Options) { o.MaxQueueBytes = 40_000 })
	d.Exec(notes + `alter table notes enable row level security;
		create policy own on notes for select to authenticated using (owner = auth.uid())`)
	box, id := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	insert := func(n int) {
		d.Exec(`insert into notes (id, owner) values ($1, $2), ($3, $4)`, n, alice, n+1, bob)
	}
	insert(1)
	settle(t, d, s)
	last := box.take()[0]
	s.Unsubscribe(id)
	insert(3)
	cut(t, d, s)
	insert(5)
	rejoin := func(since Since) (changes int, reason string) {
		t.Helper()
		reason = "not called"
		box := &inbox{}
		id, err := s.Subscribe(t.Context(), Subscriber{Role: "authenticated", Claims: user(alice), Deliver: box.deliver,
			Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}}, Since: &since,
			Joined: func(_ uint64, why string) { reason = why }})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, d, s)
		s.Unsubscribe(id)
		return len(box.take()), reason
	}
	// The row of another user follows in its transaction, so the position does not confirm it.
	if n, reason := rejoin(Since{Position: last.Position}); n != 3 || reason != "" {
		t.Errorf("after the first change: %d changes, %q", n, reason)
	}
	if n, reason := rejoin(Since{}); n != 0 || reason != "" {
		t.Errorf("from now on: %d changes, %q", n, reason)
	}
	if n, reason := rejoin(Since{Position: 1}); n != 0 || reason != reasonForgotten {
		t.Errorf("from the beginning: %d changes, %q", n, reason)
	}
	d.Exec(`insert into notes (id, body) select n, repeat('x', 100) from generate_series(100, 140) n`)
	settle(t, d, s)
	if n, reason := rejoin(Since{Position: last.Position}); n != 0 || reason != reasonForgotten {
		t.Errorf("after the ring was full: %d changes, %q", n, reason)
	}
}

// TestReplacedServer: a server that replaces another one goes on from its slot. A subscriber that
// comes again, by position or by time, gets what it missed before, between and after.
func TestReplacedServer(t *testing.T) {
	d, first := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, first, "service_role", service, Binding{Table: "notes"})
	insert := func(n int) { d.Exec(`insert into notes (id) values ($1)`, n) }
	insert(1)
	settle(t, d, first)
	last := box.take()[0]
	insert(2)
	settle(t, d, first)
	second := openOn(t, d, func(o *Options) { o.Replaces = true })
	insert(3)
	first.StandDown()
	insert(4)
	var data struct {
		At time.Time `json:"commit_timestamp"`
	}
	if err := json.Unmarshal(last.Data, &data); err != nil {
		t.Fatal(err)
	}
	const row = `INSERT [1] {"id":%d,"body":null,"done":false,"owner":null}`
	for since, from := range map[Since]int{{Position: last.Position}: 2, {Time: data.At}: 1} {
		reason := "not called"
		box := &inbox{}
		id, err := second.Subscribe(t.Context(), Subscriber{Role: "service_role", Claims: service, Deliver: box.deliver,
			Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}}, Since: &since,
			Joined: func(_ uint64, why string) { reason = why }})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, d, second)
		second.Unsubscribe(id)
		var want []string
		for n := from; n <= 4; n++ {
			want = append(want, fmt.Sprintf(row, n))
		}
		expect(t, box, want...)
		if reason != "" {
			t.Errorf("since %v: %q", since, reason)
		}
	}
	if n := slots(d); n != 1 {
		t.Errorf("%d slots", n)
	}
}

// TestUnusedStream: nothing is read before the first client, although a table is published.
func TestUnusedStream(t *testing.T) {
	d := testdb.New(t)
	d.Exec(notes)
	s := openOn(t, d, nil)
	eventually(t, "it looked for tables and closed its connection", func() bool {
		pool := s.o.Pool.Pgx().Stat()
		return pool.NewConnsCount() > 0 && pool.TotalConns() == 0
	})
	if err := s.Ready(); !errors.Is(err, errIdle) || slots(d) != 0 {
		t.Errorf("%v, %d slots", err, slots(d))
	}
	s.Hold()()
	eventually(t, "the connection", func() bool { return s.Ready() == nil && slots(d) == 1 })
}

package changes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// joiner is a subscriber that wants changes of before. Its inbox has a change of the type "joined"
// where Joined was called.
type joiner struct {
	inbox
	ready  func(context.Context) // may be nil
	reason string
	ended  chan error
	cancel context.CancelFunc
}

// joinAgain lets a user join with the changes of tables since a position.
func joinAgain(t *testing.T, s *Stream, claims map[string]any, since uint64, tables ...string) *joiner {
	t.Helper()
	return (&joiner{}).join(t, s, claims, since, tables...)
}

func (j *joiner) join(t *testing.T, s *Stream, claims map[string]any, since uint64, tables ...string) *joiner {
	j.ended = make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	j.cancel = cancel
	request := Subscriber{Role: claims["role"].(string), Claims: claims, Deliver: j.deliver, Ready: j.ready,
		Since: &Since{Position: since},
		Resumed: func(reason string, position uint64) {
			j.deliver(Change{Type: "told", Position: position, Data: json.RawMessage(reason)})
		},
		Joined: func(position uint64, reason string) {
			j.reason = reason
			j.deliver(Change{Type: "joined", Position: position})
		}}
	for i, table := range tables {
		request.Bindings = append(request.Bindings, Binding{ID: int64(i + 1), Schema: "public", Table: table, Event: "*"})
	}
	go func() {
		_, err := s.Subscribe(ctx, request)
		j.ended <- err
	}()
	return j
}

// joined waits until the subscriber has joined.
func (j *joiner) joined(t *testing.T) {
	t.Helper()
	select {
	case err := <-j.ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(wait):
		t.Fatal("did not join")
	}
}

// rows returns the ids of the delivered rows, and 0 where Joined was called.
func (j *joiner) rows(t *testing.T) (ids []int) {
	t.Helper()
	for _, c := range j.take() {
		var data struct{ Record struct{ ID int } }
		if len(c.Data) > 0 {
			if err := json.Unmarshal(c.Data, &data); err != nil {
				t.Fatal(err)
			}
		}
		ids = append(ids, data.Record.ID)
	}
	return ids
}

// holdReplays lets replays wait until release is called.
func holdReplays(s *Stream) (release func()) {
	release, _ = s.turns.Take(context.Background(), replayTurn)
	return release
}

// TestReplayDelaysNoOther: while the replay of a subscriber is blocked, others get their changes
// and join. The subscriber gets what it missed, in order, and then what was committed since.
func TestReplayDelaysNoOther(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	last := box.take()[0].Position
	const missed = 2*batchSize + 100
	d.Exec(`insert into notes (id) select generate_series(2, $1::int)`, missed)
	settle(t, d, s)
	release := holdReplays(s)
	j := joinAgain(t, s, service, last, "notes")
	eventually(t, "the subscriber is known", func() bool { return s.registry.count() == 2 })
	box.take()
	d.Exec(`insert into notes (id) values ($1)`, missed+1)
	eventually(t, "the change of another subscriber", func() bool { return len(box.take()) == 1 })
	now := joinAgain(t, s, service, 0, "notes")
	now.joined(t)
	if got := j.take(); len(got) != 0 {
		t.Errorf("%d changes before the replay", len(got))
	}
	release()
	j.joined(t)
	d.Exec(`insert into notes (id) values ($1)`, missed+2)
	settle(t, d, s)
	var want []int
	for n := 2; n <= missed; n++ {
		want = append(want, n)
	}
	want = append(want, 0, missed+1, missed+2)
	if got := j.rows(t); !slices.Equal(got, want) || j.reason != "" {
		t.Errorf("%d rows, want %d; reason %q", len(got), len(want), j.reason)
	}
}

// TestReplayWaitsForClient: a replay whose client reads slowly goes on once the client is ready,
// and keeps no other replay waiting.
func TestReplayWaitsForClient(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	d.Exec(`insert into notes (id, body) select n, repeat('x', 500000) from generate_series(2, 6) n`)
	settle(t, d, s)
	last := box.take()[0].Position
	turns := make(chan struct{})
	slow := &joiner{ready: func(context.Context) { turns <- struct{}{} }}
	slow.join(t, s, service, last, "notes")
	<-turns
	<-turns // the first batch has two changes, because more have above a megabyte
	if got := slow.rows(t); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("the first batch has %v", got)
	}
	other := joinAgain(t, s, service, last, "notes")
	other.joined(t)
	if got := other.rows(t); !slices.Equal(got, []int{2, 3, 4, 5, 6, 0}) {
		t.Errorf("another client got %v", got)
	}
	<-turns
	slow.joined(t)
	if got := slow.rows(t); !slices.Equal(got, []int{4, 5, 6, 0}) {
		t.Errorf("then %v", got)
	}
}

// TestReplayForgets: a subscriber is told that changes are missing if the ring no longer has them
// when it is its turn, or if more were committed since it joined than are kept.
func TestReplayForgets(t *testing.T) {
	t.Parallel()
	for name, insert := range map[string]string{
		"ring": `insert into notes (id, body) select n, repeat('x', 100) from generate_series(10, 100) n`,
		"kept": `insert into notes (id, body) select n, repeat('x', 600000) from generate_series(10, 11) n`,
	} {
		t.Run(name, func(t *testing.T) {
			d, s := open(t, func(o *Options) {
				if name == "ring" {
					o.MaxQueueBytes = 40_000
				}
			})
			d.Exec(notes)
			box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
			d.Exec(`insert into notes (id) values (1)`)
			d.Exec(`insert into notes (id) values (2)`)
			settle(t, d, s)
			release := holdReplays(s)
			j := joinAgain(t, s, service, box.take()[0].Position, "notes")
			eventually(t, "the subscriber is known", func() bool { return s.registry.count() == 2 })
			d.Exec(insert)
			settle(t, d, s)
			release()
			j.joined(t)
			if j.reason != reasonForgotten {
				t.Errorf("reason %q", j.reason)
			}
			if got := j.rows(t); got[0] != 0 {
				t.Errorf("replayed %v", got)
			}
			d.Exec(`insert into notes (id) values (200)`)
			settle(t, d, s)
			if got := j.rows(t); !slices.Equal(got, []int{200}) {
				t.Errorf("afterwards: %v", got)
			}
		})
	}
}

// TestReplayOfFailingPolicy: the changes of a table whose policy fails are lost, those of another
// table are not. A position before the end of the replay names no lost change.
func TestReplayOfFailingPolicy(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security;
		create policy all_ on notes for select to authenticated using (auth.uid() is not null);
		create table broken (id int primary key);
		alter table broken enable row level security;
		create policy fails on broken for select to authenticated using (1 / id > 0);
		alter publication supabase_realtime add table broken;`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "*"})
	for _, row := range []string{"notes (id) values (1)", "notes (id) values (2)", "broken values (0)", "notes (id) values (3)"} {
		d.Exec(`insert into ` + row)
	}
	settle(t, d, s)
	all := box.take()
	j := joinAgain(t, s, user(alice), all[0].Position, "notes", "broken")
	j.joined(t)
	if want := reasonPolicy + ": public.broken"; j.reason != want {
		t.Errorf("reason %q, want %q", j.reason, want)
	}
	got := j.take()
	if len(got) != 3 || got[1].Position >= all[2].Position || got[2].Type != "joined" || got[2].Position < all[3].Position {
		t.Errorf("%+v", got)
	}
}

// TestCancelledRejoin: a subscriber that leaves while it waits for its turn, or while it gets what
// it missed, is removed.
func TestCancelledRejoin(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	box, id := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	since := box.take()[0].Position
	d.Exec(`insert into notes (id) select generate_series(2, $1::int)`, 2*batchSize)
	settle(t, d, s)
	s.Unsubscribe(id)
	left := func(err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) || s.registry.count() != 0 {
			t.Errorf("%v, %d subscribers are left", err, s.registry.count())
		}
	}
	release := holdReplays(s)
	j := joinAgain(t, s, service, since, "notes")
	eventually(t, "the subscriber is known", func() bool { return s.registry.count() == 1 })
	j.cancel()
	left(<-j.ended)
	release()
	ctx, cancel := context.WithCancel(t.Context())
	delivered := 0
	_, err := s.Subscribe(ctx, Subscriber{Role: "service_role", Claims: service, Since: &Since{Position: since},
		Bindings: []Binding{{Schema: "public", Table: "notes", Event: "*"}},
		Joined:   func(uint64, string) { t.Error("joined after the client had left") },
		Deliver:  func(Change) { delivered++; cancel() }})
	if left(err); delivered == 0 || delivered > batchSize {
		t.Errorf("%d changes", delivered)
	}
	settle(t, d, s)
	if n := s.registry.count(); n != 0 {
		t.Errorf("%d subscribers are left", n)
	}
}

// TestJoinAcrossLostConnection: the connection was lost, with changes, after a subscriber had
// joined and before the worker came to it.
func TestJoinAcrossLostConnection(t *testing.T) {
	t.Parallel()
	d := testdb.New(t)
	s := openOn(t, d, nil)
	sub := &subscriber{since: 1, progress: progress{passed: &s.passed, joining: true}}
	s.count, s.broken = 2, 2
	join := &rejoin{sub: sub, done: make(chan ringEnd, 1)}
	worker{s}.follow(t.Context(), &rowChange{control: &control{join: join}})
	sub.goLive((<-join.done).position, func(_ uint64, reason string) {
		if reason != reasonConnection {
			t.Errorf("reason %q", reason)
		}
	})
	s.registry.remove(sub.id)
}

// TestPositionWithinTransaction: a client that joins again after the first message about a
// transaction gets the others. The last message, and that of a single change, confirms its
// transaction.
func TestPositionWithinTransaction(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	parts, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Select: []string{"body"}},
		Binding{Table: "notes", Select: []string{"done"}})
	d.Exec(`insert into notes (id) values (1)`)
	d.Exec(`insert into notes (id) select generate_series(2, $1::int)`, batchSize+2)
	d.Exec(`insert into notes (id) values (9999)`)
	settle(t, d, s)
	got, commits := box.take(), map[uint64]bool{}
	for _, item := range s.ring.items {
		commits[item.position] = true
	}
	for i, c := range got {
		if last := i == 0 || i >= batchSize+1; commits[c.Position] != last || i > 0 && c.Position < got[i-1].Position {
			t.Fatalf("message %d of %d: position %d", i+1, len(got), c.Position)
		}
	}
	for i, c := range parts.take() {
		if n := i / 2; i%2 == 0 && n < 1 && c.Position >= got[n].Position || i%2 == 1 && c.Position != got[n].Position {
			t.Fatalf("message %d about change %d: position %d", i%2+1, n+1, c.Position)
		}
	}
	for _, c := range []struct{ after, first int }{{0, 2}, {1, 2}, {batchSize, 2}, {batchSize + 1, 9999}} {
		j := joinAgain(t, s, service, got[c.after].Position, "notes")
		j.joined(t)
		if ids := j.rows(t); ids[0] != c.first || j.reason != "" {
			t.Errorf("after message %d: from row %d, reason %q", c.after+1, ids[0], j.reason)
		}
	}
}

// holdLane lets the changes of a table for a user wait in their lane until release is called.
func holdLane(s *Stream, p pair) (release func()) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	ln := &lane{pair: p, running: true}
	ln.next.Store(noPosition)
	s.lanes.byPair[p] = ln
	return func() { go s.lanes.start(ln) }
}

// pairOf returns the pair of a table and the only subscriber.
func pairOf(d *testdb.DB, s *Stream, table string) pair {
	oid := testdb.Value[int64](d, `select $1::regclass::oid::int8`, table)
	return pair{table: uint32(oid), user: s.registry.all()[0].groups[0].user}
}

// TestPositionBehindLane: while a change waits in a lane, no message confirms it. Messages of the
// lane confirm what was delivered before them.
func TestPositionBehindLane(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + `create table slow (id int primary key); alter publication supabase_realtime add table slow;`)
	j := joinAgain(t, s, user(alice), 0, "notes", "slow")
	j.joined(t)
	j.take()
	release := holdLane(s, pairOf(d, s, "slow"))
	d.Exec(`insert into slow values (1)`)
	d.Exec(`insert into slow values (2)`)
	d.Exec(`insert into notes (id) values (3)`)
	var before []Change
	eventually(t, "the row of the other table", func() bool {
		before = append(before, j.take()...)
		return len(before) == 1
	})
	commits := make([]uint64, 3)
	for i, item := range s.ring.items {
		commits[i] = item.position
	}
	if before[0].Position >= commits[0] {
		t.Errorf("position %d, the lane has %v", before[0].Position, commits)
	}
	again := joinAgain(t, s, service, before[0].Position, "notes", "slow")
	again.joined(t)
	if got := again.rows(t); !slices.Equal(got, []int{1, 2, 3, 0}) {
		t.Errorf("joined again: %v", got)
	}
	release()
	settle(t, d, s)
	got := j.take()
	if len(got) != 2 || got[0].Position < commits[0] || got[0].Position >= commits[1] || got[1].Position < commits[2] {
		t.Errorf("%+v, committed at %v", got, commits)
	}
}

// TestPositionOfUntoldLoss: while a subscriber is not told of a loss, no message confirms the lost
// change.
func TestPositionOfUntoldLoss(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + `create table broken (id int primary key); alter table broken enable row level security;
		create policy fails on broken for select to authenticated using (1 / id > 0);
		alter publication supabase_realtime add table broken;`)
	j := joinAgain(t, s, user(alice), 0, "notes", "broken")
	j.joined(t)
	j.take()
	sub := s.registry.all()[0]
	sub.mu.Lock()
	sub.told = time.Now().Add(time.Hour) // a moment ago
	sub.mu.Unlock()
	d.Exec(`insert into broken values (0)`)
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	d.Exec(`insert into notes (id) values (2)`)
	settle(t, d, s)
	lost, got := s.ring.items[0].position, j.take()
	if len(got) != 2 || got[0].Position >= lost || got[1].Position >= lost {
		t.Errorf("%+v, lost %d", got, lost)
	}
	sub.mu.Lock()
	sub.tell()
	sub.mu.Unlock()
	d.Exec(`insert into notes (id) values (3)`)
	settle(t, d, s)
	got = j.take()
	if len(got) != 2 || string(got[0].Data) != reasonPolicy+": public.broken" || got[0].Position < lost ||
		got[1].Position <= got[0].Position {
		t.Errorf("%+v, lost %d", got, lost)
	}
}

// TestReasonsAreTold: a subscriber that lost changes for several reasons is told of all.
func TestReasonsAreTold(t *testing.T) {
	told := make(chan string, 1)
	sub := &subscriber{resumed: func(reason string, _ uint64) { told <- reason }}
	sub.passed, sub.told = &atomic.Uint64{}, time.Now()
	for _, reason := range []string{"a", "b", "a"} {
		sub.lose(1, reason)
	}
	if got := <-told; got != "a; b" {
		t.Errorf("told %q", got)
	}
}

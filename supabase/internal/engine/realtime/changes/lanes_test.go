package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// listen adds a subscriber to a table and returns its changes and the reasons of Resumed.
func listen(t *testing.T, s *Stream, claims map[string]any, tables ...string) (*inbox, *reasons) {
	t.Helper()
	box, told := &inbox{}, &reasons{}
	var bindings []Binding
	for i, table := range tables {
		bindings = append(bindings, Binding{ID: int64(i + 1), Schema: "public", Table: table, Event: "*"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	_, err := s.Subscribe(ctx, Subscriber{Role: "authenticated", Claims: claims, Bindings: bindings,
		Deliver: box.deliver, Resumed: told.add})
	if err != nil {
		t.Fatal(err)
	}
	return box, told
}

// reasons collects why a subscriber has to read a table again.
type reasons struct {
	mu  sync.Mutex
	all []string
}

func (r *reasons) add(reason string, _ uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, reason)
}

func (r *reasons) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.all, "; ")
}

// TestFailingPolicyLosesOnlyItsPair: one transaction changes a table of all, and one with a policy
// that fails for one of its users. Only that user loses changes, only those of that table, and only
// that user is told.
func TestFailingPolicyLosesOnlyItsPair(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security;
		create policy all_ on notes for select to authenticated using (auth.uid() is not null);
		create table broken (id int primary key);
		alter table broken enable row level security;
		create policy fails on broken for select to authenticated using (1 / (auth.jwt() ->> 'n')::int = 1);
		alter publication supabase_realtime add table broken;`)
	claims := user(alice)
	claims["n"] = 0
	box, told := listen(t, s, claims, "notes", "broken")
	claims = user(bob)
	claims["n"] = 1
	other, otherTold := listen(t, s, claims, "notes", "broken")
	d.Exec(`with b as (insert into broken values (1)) insert into notes (id) select generate_series(1, 300)`)
	settle(t, d, s)
	if n := len(box.take()); n != 300 {
		t.Errorf("the user whose policy fails got %d changes of another table", n)
	}
	if n := len(other.take()); n != 301 {
		t.Errorf("another user got %d changes", n)
	}
	if got, want := told.String(), reasonPolicy+": public.broken"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := otherTold.String(); got != "" {
		t.Errorf("another user was told %q", got)
	}
}

// TestSlowPolicyDelaysNoOtherUser: while the policy of three users waits for a lock that is held
// until the end of the test, a user of another table and another user of the same table get their
// rows. The slow users get theirs afterwards, in order.
func TestSlowPolicyDelaysNoOtherUser(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + waitsForLock + `alter table slow replica identity full; insert into slow values (0);`)
	same, sameTold := listen(t, s, user(alice), "slow")
	var boxes []*inbox
	for n := range 3 {
		box, _ := listen(t, s, slowUser(n), "slow")
		boxes = append(boxes, box)
	}
	other, _ := listen(t, s, user(bob), "notes")
	release := holdLock(t, d)
	d.Exec(`update slow set id = 1`)
	d.Exec(`insert into notes (id) values (1)`)
	eventually(t, "the row of another table", func() bool { return len(other.take()) == 1 })
	eventually(t, "the row of another user", func() bool { return len(same.take()) == 1 })
	if got := sameTold.String(); got != "" {
		t.Errorf("another user was told %q", got)
	}
	for _, box := range boxes {
		if n := len(box.take()); n != 0 {
			t.Errorf("a user whose policy waits got %d changes", n)
		}
	}
	release()
}

// TestLaneKeepsOrder: the changes of a pair in its lane are delivered in order, and the pair
// returns to the common check.
func TestLaneKeepsOrder(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	now := time.Now()
	var mu sync.Mutex
	s.lanes.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	d.Exec(notes + `create table pause (seconds float8); insert into pause values (0.4);
		grant select on pause to authenticated;
		alter table notes enable row level security;
		create policy sleeps on notes for select to authenticated using ((select pg_sleep(seconds) from pause) is not null);`)
	box, told := listen(t, s, user(alice), "notes")
	for n := range 5 {
		d.Exec(`insert into notes (id) values ($1)`, n)
	}
	settle(t, d, s)
	var want []string
	row := `INSERT [1] {"id":%d,"body":null,"done":false,"owner":null}`
	for n := range 5 {
		want = append(want, fmt.Sprintf(row, n))
	}
	expect(t, box, want...)
	if got := told.String(); got != "" {
		t.Errorf("told %q without a loss", got)
	}
	d.Exec(`update pause set seconds = 0`)
	mu.Lock()
	now = now.Add(2 * slowFor)
	mu.Unlock()
	d.Exec(`insert into notes (id) values (9)`)
	settle(t, d, s)
	expect(t, box, fmt.Sprintf(row, 9))
	if n := len(s.lanes.byPair); n != 0 {
		t.Errorf("%d lanes are left", n)
	}
}

// TestPolicyCacheStaysInItsUser: a policy that caches in a transaction-local setting does not
// answer for the next user.
func TestPolicyCacheStaysInItsUser(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security;
		create function cached() returns text language plpgsql as $$ begin
			if coalesce(current_setting('app.cached', true), '') = '' then
				perform set_config('app.cached', auth.uid()::text, true);
			end if;
			return current_setting('app.cached'); end $$;
		create policy own on notes for select to authenticated using (owner::text = cached());`)
	first, _ := listen(t, s, user(alice), "notes")
	second, _ := listen(t, s, user(bob), "notes")
	d.Exec(`insert into notes (id, owner) values (1, $1), (2, $2)`, alice, bob)
	settle(t, d, s)
	expect(t, first, `INSERT [1] {"id":1,"body":null,"done":false,"owner":"`+alice+`"}`)
	expect(t, second, `INSERT [1] {"id":2,"body":null,"done":false,"owner":"`+bob+`"}`)
}

// TestFailingFilterLosesOnlyItsPair: a filter that fails for one row loses only its pair's changes.
func TestFailingFilterLosesOnlyItsPair(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(`create type pair as (a int, b text);
		create function fails(x pair, y pair) returns boolean language plpgsql as $$ begin
			if x.a = 0 then raise 'no'; end if; return x.a > y.a; end $$;
		create operator > (leftarg = pair, rightarg = pair, function = fails);
		create table p (id int primary key, p pair);
		alter publication supabase_realtime add table p`)
	told := &reasons{}
	box, plain := &inbox{}, &inbox{}
	for _, sub := range []Subscriber{
		{Role: "authenticated", Claims: user(alice), Deliver: box.deliver, Resumed: told.add,
			Bindings: []Binding{{ID: 1, Schema: "public", Table: "p", Event: "*", Filter: `p=gt."(1,)"`}}},
		{Role: "authenticated", Claims: user(bob), Deliver: plain.deliver, Bindings: []Binding{{ID: 1, Schema: "public",
			Table: "p", Event: "*"}}},
	} {
		if _, err := s.Subscribe(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
	}
	d.Exec(`insert into p values (1, '(2,x)')`)
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":1,"p":{"a": 2, "b": "x"}}`)
	d.Exec(`insert into p values (2, '(0,x)')`)
	settle(t, d, s)
	expect(t, box)
	if n := len(plain.take()); n != 2 {
		t.Errorf("another user got %d changes", n)
	}
	if got, want := told.String(), reasonFilter+": public.p"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestPartitionsHaveThePoliciesOfTheirRoot: users get the rows of partitions that a SELECT of the
// root returns, with the columns that they may read there.
func TestPartitionsHaveThePoliciesOfTheirRoot(t *testing.T) {
	t.Parallel()
	for _, viaRoot := range []bool{false, true} {
		t.Run(fmt.Sprint("via root ", viaRoot), func(t *testing.T) {
			d, s := open(t, nil)
			d.Exec(`create table events (kind int, extra text, id int, owner uuid, secret text, primary key (id, kind)) partition by list (kind);
				create table events_1 partition of events for values in (1);
				create table events_2 (secret text, owner uuid, id int not null, kind int not null, extra text) partition by list (id);
				create table events_2a partition of events_2 default;
				alter table events attach partition events_2 for values in (2);
				alter table events enable row level security;
				create policy own on events for select to authenticated using (owner = auth.uid());
				revoke all on events from anon, authenticated;
				grant select (kind, id, owner) on events to authenticated;
				alter publication supabase_realtime add table events;` +
				fmt.Sprintf(`alter publication supabase_realtime set (publish_via_partition_root = %t)`, viaRoot))
			box, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "*"})
			anon, _ := subscribe(t, s, "anon", map[string]any{"role": "anon"}, Binding{Table: "*"})
			d.Exec(fmt.Sprintf(`insert into events values (1, 'x', 1, '%s', 's'), (1, 'x', 2, '%s', 's'), (2, 'x', 3, '%[1]s', 's'), (2, 'x', 4, null, 's')`, alice, bob))
			settle(t, d, s)
			var got []string
			for _, line := range show(t, box.take()) {
				if strings.Contains(line, "owner") {
					got = append(got, line)
				}
				if strings.Contains(line, "secret") || strings.Contains(line, bob) {
					t.Error(line)
				}
			}
			if len(got) != 2 {
				t.Errorf("changes: %v", got)
			}
			for _, line := range show(t, anon.take()) {
				if strings.Contains(line, "kind") || strings.Contains(line, "401") {
					t.Errorf("a role without privileges got %s", line)
				}
			}
		})
	}
}

// waitsForLock is a table whose policy waits for the lock 7 as users with the claim "slow". The
// check of such a user ends after the 5 s of a lane.
const waitsForLock = `create table slow (id int primary key);
	alter table slow enable row level security;
	create function wait_for_lock() returns boolean language plpgsql as $$ begin
		if auth.jwt() ->> 'slow' is not null then
			perform set_config('lock_timeout', '0', true);
			perform pg_advisory_xact_lock_shared(7);
		end if;
		return true; end $$;
	create policy waits on slow for select to authenticated using (wait_for_lock());
	alter publication supabase_realtime add table slow;`

// holdLock holds the lock of waitsForLock until release is called.
func holdLock(t *testing.T, d *testdb.DB) (release func()) {
	t.Helper()
	holder := d.Conn("postgres")
	do := func(sql string) {
		if _, err := holder.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do(`select pg_advisory_lock(7)`)
	return func() { do(`select pg_advisory_unlock(7)`) }
}

func slowUser(n int) map[string]any { return map[string]any{"role": "authenticated", "slow": n} }

// TestSlowLanesShare: while a table's policy is slow for many users, a user in the lane of another
// table gets its rows before all of them were asked.
func TestSlowLanesShare(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + waitsForLock + `alter table notes enable row level security;
		create policy sleeps on notes for select to authenticated using ((select pg_sleep(0.3)) is not null);`)
	var told []*reasons
	for n := range 4 {
		_, r := listen(t, s, slowUser(n), "slow")
		told = append(told, r)
	}
	other, _ := listen(t, s, user(bob), "notes")
	defer holdLock(t, d)()
	d.Exec(`insert into slow values (1)`)
	eventually(t, "the lanes", func() bool { return s.lanes.waiting() == 4 })
	d.Exec(`insert into notes (id) values (1)`)
	eventually(t, "the row of another table", func() bool { return len(other.take()) == 1 })
	if !slices.ContainsFunc(told, func(r *reasons) bool { return r.String() == "" }) {
		t.Error("all users of the slow table were asked before")
	}
}

// TestLaneHasVisibleRows: changes that the text of the policies hides from a user do not fill the
// user's lane.
func TestLaneHasVisibleRows(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + waitsForLock + `alter table notes enable row level security;
		create policy own on notes for select to authenticated using (owner = (select auth.uid()) and wait_for_lock());`)
	claims := slowUser(1)
	claims["sub"] = alice
	box, _ := listen(t, s, claims, "notes")
	release := holdLock(t, d)
	d.Exec(`insert into notes (id, owner) values (1, $1), (2, $2), (3, $1)`, bob, alice)
	eventually(t, "the lane", func() bool { return s.lanes.waiting() == 1 })
	s.lanes.mu.Lock()
	for _, ln := range s.lanes.byPair {
		if ln.bytes != s.ring.items[0].memory() {
			t.Errorf("%d bytes in the lane, a change has %d", ln.bytes, s.ring.items[0].memory())
		}
	}
	s.lanes.mu.Unlock()
	release()
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":2,"body":null,"done":false,"owner":"`+alice+`"}`)
}

// TestPatternsDelayNoChange: while the server compiles the patterns of many subscriptions, changes
// go on.
func TestPatternsDelayNoChange(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := listen(t, s, user(alice), "notes")
	const clients = 30
	ended := make(chan error, clients)
	for n := range clients {
		go func() {
			_, err := s.Subscribe(t.Context(), Subscriber{Role: "anon", Claims: map[string]any{"role": "anon", "n": n},
				Deliver: func(Change) {}, Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*",
					Filter: `body=match."((a{1,255}){1,255})"`}}})
			ended <- err
		}()
	}
	eventually(t, "the first pattern is refused", func() bool { return len(ended) > 0 })
	d.Exec(`insert into notes (id) values (1)`)
	eventually(t, "the change", func() bool { return len(box.take()) == 1 })
	if len(ended) > clients/2 {
		t.Errorf("%d of %d patterns were compiled before", len(ended), clients)
	}
	for range clients {
		var refused *SubscribeError
		if err := <-ended; !errors.As(err, &refused) {
			t.Error(err)
		}
	}
}

// TestSlowFilterLosesOnlyItself: a filter that takes too long loses no change of other bindings of
// the same user and table.
func TestSlowFilterLosesOnlyItself(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes)
	for n, filter := range []string{`body=match."^(.+)(.+)(.+)(.+)(.+)\\5\\4\\3\\2\\1x\\1$"`, `body=match.^a`, ""} {
		box, told := &inbox{}, &reasons{}
		if _, err := s.Subscribe(t.Context(), Subscriber{Role: "anon", Claims: map[string]any{"role": "anon"},
			Deliver: box.deliver, Resumed: told.add, Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes",
				Event: "*", Filter: filter}}}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if n == 0 {
				if told.String() == "" {
					t.Error("the filter was not too slow")
				}
			} else if got := len(box.take()); got != 1 || told.String() != "" {
				t.Errorf("filter %q: %d changes, told %q", filter, got, told)
			}
		}()
	}
	d.Exec(`insert into notes (id, body) values (1, repeat('a', 300) || 'xb')`)
	settle(t, d, s)
}

// TestSlowReplaysDelayNoOther: while the policy of a table is slow for users that join again, a
// user of another table gets what it missed.
func TestSlowReplaysDelayNoOther(t *testing.T) {
	t.Parallel()
	d, s := open(t, nil)
	d.Exec(notes + waitsForLock)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "*"})
	d.Exec(`insert into notes (id) values (1)`)
	d.Exec(`insert into slow values (1)`)
	d.Exec(`insert into notes (id) values (2)`)
	settle(t, d, s)
	since := box.take()[0].Position
	defer holdLock(t, d)()
	var slow []*joiner
	for n := range 4 {
		slow = append(slow, joinAgain(t, s, slowUser(n), since, "slow"))
	}
	eventually(t, "the slow users are known", func() bool { return s.registry.count() == 5 })
	other := joinAgain(t, s, service, since, "notes")
	other.joined(t)
	if got := other.rows(t); !slices.Equal(got, []int{2, 0}) {
		t.Errorf("rows %v", got)
	}
	if !slices.ContainsFunc(slow, func(j *joiner) bool { return len(j.ended) == 0 }) {
		t.Error("all slow users were asked before")
	}
	for _, j := range slow {
		j.joined(t)
		if want := reasonSlow + ": public.slow"; j.reason != want {
			t.Errorf("reason %q, want %q", j.reason, want)
		}
	}
}

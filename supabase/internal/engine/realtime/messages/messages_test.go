package messages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// store returns a database and a Store whose clock is *now.
func store(t *testing.T, now *time.Time) (*testdb.DB, *Store) {
	t.Helper()
	d := testdb.New(t)
	pool, err := pool.Open(t.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	o := Options{Pool: pool}
	if now != nil {
		o.Now = func() time.Time { return *now }
	}
	s := New(o)
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, s
}

var alice = Identity{
	Role: "authenticated", Claims: map[string]any{"sub": "7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f",
		"role": "authenticated"},
	Headers: http.Header{"X-Team": {"blue"}},
}

func TestAuthorizationByPolicies(t *testing.T) {
	d, s := store(t, nil)
	d.Exec(`create table members (topic text, user_id uuid);
		alter table members enable row level security;
		create policy own on members for select to authenticated using (user_id = auth.uid());
		insert into members values ('notes', '7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f');
		create policy read on realtime.messages for select to authenticated using (
			realtime.topic() in (select topic from members) or extension = 'presence' and realtime.topic() = 'lobby'
			or current_setting('request.headers')::json ->> 'x-team' = 'blue' and realtime.topic() = 'blue');
		create policy write on realtime.messages for insert to authenticated with check (
			extension = 'broadcast' and realtime.topic() = 'notes')`)
	bob := alice
	bob.Claims = map[string]any{"sub": "00000000-0000-0000-0000-000000000001", "role": "authenticated"}
	bob.Headers = nil
	for _, c := range []struct {
		who         Identity
		topic       string
		presence    bool
		read, write Grant
	}{
		{alice, "notes", true, Grant{true, true}, Grant{true, false}},
		{alice, "notes", false, Grant{true, false}, Grant{true, false}},
		{alice, "lobby", true, Grant{false, true}, Grant{}},
		{alice, "blue", true, Grant{true, true}, Grant{}},
		{bob, "blue", true, Grant{}, Grant{}},
		{bob, "notes", true, Grant{}, Grant{true, false}},
		{Identity{Role: "anon", Claims: map[string]any{"role": "anon"}}, "notes", true, Grant{}, Grant{}},
		{Identity{Role: "service_role", Claims: map[string]any{"role": "service_role"}}, "any", true, Grant{true, true},
			Grant{true, true}},
	} {
		name := fmt.Sprint(c.who.Role, c.who.Claims["sub"], c.topic, c.presence)
		if got, err := s.CanRead(t.Context(), c.who, c.topic, c.presence); err != nil || got != c.read {
			t.Errorf("%s: read %v %v, want %v", name, got, err, c.read)
		}
		want := c.write
		want.Presence = want.Presence && c.presence
		if got, err := s.CanWrite(t.Context(), c.who, c.topic, c.presence); err != nil || got != want {
			t.Errorf("%s: write %v %v, want %v", name, got, err, want)
		}
	}
	if n := testdb.Value[int](d, `select count(*) from realtime.messages`); n != 0 {
		t.Errorf("the checks left %d rows", n)
	}
}

func TestFailingPolicy(t *testing.T) {
	d, s := store(t, nil)
	d.Exec(`create policy broken on realtime.messages for select to authenticated using (1 / length(realtime.topic()) > 1 or realtime.topic()::int > 0)`)
	if _, err := s.CanRead(t.Context(), alice, "notes", true); !errors.Is(err, ErrPolicy) {
		t.Errorf("got %v, want ErrPolicy", err)
	}
	missing := alice
	missing.Role = "no_such_role"
	if _, err := s.CanRead(t.Context(), missing, "notes", true); !errors.Is(err, ErrPolicy) {
		t.Errorf("unknown role: got %v, want ErrPolicy", err)
	}
	d.Exec(`drop policy broken on realtime.messages;
		create policy slow on realtime.messages for select to authenticated using (pg_sleep(60) is not null)`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	if _, err := s.CanRead(ctx, alice, "notes", false); !errors.Is(err, ErrCanceled) {
		t.Errorf("slow policy: got %v, want ErrCanceled", err)
	}
}

func TestPartitions(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 59, 0, 0, time.UTC)
	d, s := store(t, &now)
	list := func() string {
		return testdb.Value[string](d,
			`select string_agg(inhrelid::regclass::text, ' ' order by inhrelid::regclass::text collate "C")
			from pg_inherits where inhparent = 'realtime.messages'::regclass`)
	}
	want := "realtime.messages_2026_02_28 realtime.messages_2026_03_01 realtime.messages_2026_03_02 realtime.messages_2026_03_03 realtime.messages_2026_03_04"
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	now = now.Add(4 * 24 * time.Hour) // 2026-03-05 23:59: messages since 2026-03-02 23:59 stay
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = "realtime.messages_2026_03_02 realtime.messages_2026_03_03 realtime.messages_2026_03_04 realtime.messages_2026_03_05 " +
		"realtime.messages_2026_03_06 realtime.messages_2026_03_07 realtime.messages_2026_03_08"
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Error(diff)
	}
	// A check heals a missing partition.
	now = now.Add(30 * 24 * time.Hour)
	if _, err := s.CanRead(t.Context(), alice, "notes", true); err != nil {
		t.Errorf("check without a partition: %v", err)
	}
}

func TestReplay(t *testing.T) {
	d, s := store(t, nil)
	start := time.Now()
	for i := range 30 {
		d.Exec(`select realtime.send(jsonb_build_object('n', $1::int), 'created', 'notes')`, i)
	}
	d.Exec(`select realtime.send('{"n": 100}', 'created', 'notes', false)`) // public: not replayed
	d.Exec(`select realtime.send('{"n": 101}', 'created', 'other')`)
	d.Exec(`select realtime.send_binary('\x0102', 'bytes', 'notes')`)
	got, err := s.Replay(t.Context(), "notes", start.Add(-time.Minute), 3)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v %v", got, err)
	}
	if got[2].Event != "bytes" || string(got[2].Binary) != "\x01\x02" || got[2].Payload != nil {
		t.Errorf("newest message: %+v", got[2])
	}
	if want := fmt.Sprintf(`{"n": 28, "id": %q}`, got[0].ID); string(got[0].Payload) != want {
		t.Errorf("payload %s, want %s", got[0].Payload, want)
	}
	for limit, want := range map[int]int{-1: 1, 0: 1, 25: 25, 1000: 25} {
		if got, err := s.Replay(t.Context(), "notes", start.Add(-time.Minute), limit); err != nil || len(got) != want {
			t.Errorf("limit %d: %d messages, %v", limit, len(got), err)
		}
	}
	if got, err := s.Replay(t.Context(), "notes", time.Now().Add(time.Hour), 25); err != nil || len(got) != 0 {
		t.Errorf("since the future: %v %v", got, err)
	}
	if _, err := s.Replay(t.Context(), "notes", time.UnixMilli(1<<60), 25); !errors.Is(err, ErrReplayParameters) {
		t.Errorf("far future: %v", err)
	}
}

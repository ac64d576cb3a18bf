package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

// slots returns the number of replication slots of a database.
func slots(d *testdb.DB) int {
	return testdb.Value[int](d, `select count(*) from pg_replication_slots where database = current_database()`)
}

// TestSubscriptionIsLive: a change that is committed after Subscribe returned is delivered, with
// many at once.
func TestSubscriptionIsLive(t *testing.T) {
	d, s := open(t, func(o *Options) { o.IdleAfter = time.Millisecond })
	d.Exec(notes)
	for n := range 20 {
		box, id := subscribe(t, s, "service_role", service, Binding{Table: "notes", Filter: fmt.Sprintf("id=eq.%d", n)})
		d.Exec(`insert into notes (id) values ($1)`, n)
		eventually(t, "the change", func() bool { return len(box.take()) == 1 })
		s.Unsubscribe(id)
		d.Exec(`update notes set body = 'b' where id = $1`, n)
		if got := box.take(); len(got) != 0 {
			t.Errorf("after Unsubscribe: %v", show(t, got))
		}
	}
}

func TestCommitOrder(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	first, second := d.Conn("postgres"), d.Conn("postgres")
	for _, step := range []struct {
		second bool
		sql    string
	}{
		{false, `begin`}, {true, `begin`}, {false, `insert into notes (id) values (1)`},
		{true, `insert into notes (id) values (2)`},
		{true, `commit`}, {false, `savepoint a; insert into notes (id) values (3); rollback to a`}, {false, `commit`},
	} {
		conn := first
		if step.second {
			conn = second
		}
		if _, err := conn.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
	}
	d.Exec(`begin; insert into notes (id) values (4); rollback`)
	settle(t, d, s)
	var ids []int
	for _, c := range box.take() {
		var data struct{ Record struct{ ID int } }
		if err := json.Unmarshal(c.Data, &data); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, data.Record.ID)
	}
	if diff := cmp.Diff([]int{2, 1}, ids); diff != "" {
		t.Error(diff)
	}
}

// TestQueueLimit: more changes than the queue holds are lost and counted, the subscribers are told,
// the stream goes on.
func TestQueueLimit(t *testing.T) {
	log := &logText{}
	metrics := prometheus.NewRegistry()
	d, s := open(t, func(o *Options) {
		o.MaxQueueBytes, o.Log, o.Registerer = 50_000, slog.New(slog.NewTextHandler(log, nil)), metrics
	})
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	told := make(chan string, 10)
	_, err := s.Subscribe(t.Context(), Subscriber{
		Role: "service_role", Claims: service,
		Bindings: []Binding{{ID: 1, Schema: "public", Table: "notes", Event: "*"}}, Deliver: func(Change) {},
		Resumed: func(reason string, _ uint64) { told <- reason },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Exec(`insert into notes select n, repeat('x', 1000) from generate_series(1, 1000) n`)
	settle(t, d, s)
	if got := len(box.take()); got != 0 || s.lost.Load() != 1 {
		t.Errorf("%d changes, %d lost", got, s.lost.Load())
	}
	if reason := <-told; reason != reasonTooLarge || !strings.Contains(log.String(), reasonTooLarge) {
		t.Errorf("the reason is %q; the log: %s", reason, log.String())
	}
	d.Exec(`insert into notes values (2000)`)
	settle(t, d, s)
	if got := len(box.take()); got != 1 {
		t.Errorf("%d changes after the loss", got)
	}
	page := httptest.NewRecorder()
	promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	if text := page.Body.String(); !strings.Contains(text, `changes_lost_total{reason="`+reasonTooLarge+`"} 1`) {
		t.Error(text)
	}
}

func TestLargeRecord(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes replica identity full`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id, body) values (1, repeat('x', 1048576)); update notes set body = repeat('y', 1048576)`)
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":1,"done":false} Error 413: Payload Too Large`,
		`UPDATE [1] {"id":1,"done":false} old {"id":1,"done":false} Error 413: Payload Too Large`)
}

func TestBroadcastFromDatabase(t *testing.T) {
	d := testdb.New(t)
	day := time.Now().UTC().Format(time.DateOnly)
	d.ExecAs("supabase_admin",
		fmt.Sprintf(`create table realtime.messages_today partition of realtime.messages for values from ('%s') to ('2100-01-01')`, day))
	got, missed := make(chan Broadcast, 10), make(chan struct{}, 10)
	pool, err := pool.Open(t.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.OnBroadcast(func(b Broadcast) { got <- b }, func() { missed <- struct{}{} })
	run(t, d, s, pool)
	release := s.Hold()
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	<-missed // there was no connection before
	d.Exec(`select realtime.send('{"text": "hi"}', 'created', 'notes'), realtime.send_binary('\x00ff', 'bytes', 'notes', false)`)
	d.Exec(`insert into realtime.messages (topic, extension, event) values ('notes', 'broadcast', 'without payload')`)
	d.Exec(`insert into realtime.messages (topic, extension, event, payload, skip_broadcast) values ('notes', 'broadcast', 'delivered', '{}', true)`)
	d.Exec(`create table notes (id int primary key, body text);
		create function announce() returns trigger language plpgsql as $$ begin
			perform realtime.broadcast_changes('topic:' || coalesce(new.id, old.id), tg_op, tg_op, tg_table_name, tg_table_schema, new, old);
			return null; end $$;
		create trigger announce after insert or update or delete on notes for each row execute function announce();
		insert into notes values (1, 'a'); update notes set body = 'b'; delete from notes;`)
	receive := func() Broadcast {
		select {
		case b := <-got:
			return b
		case <-time.After(wait):
			t.Fatal("no broadcast")
			return Broadcast{}
		}
	}
	b := receive()
	if b.Topic != "notes" || b.Event != "created" || !b.Private || b.Extension != "broadcast" ||
		string(b.Payload) != fmt.Sprintf(`{"id": %q, "text": "hi"}`, b.ID) {
		t.Errorf("%+v %s", b, b.Payload)
	}
	if b = receive(); b.Private || !bytes.Equal(b.Binary, []byte{0, 255}) || b.Payload != nil {
		t.Errorf("%+v", b)
	}
	for _, want := range []string{
		`{"table": "notes", "record": {"id": 1, "body": "a"}, "schema": "public", "operation": "INSERT", "old_record": null}`,
		`{"table": "notes", "record": {"id": 1, "body": "b"}, "schema": "public", "operation": "UPDATE", "old_record": {"id": 1, "body": "a"}}`,
		`{"table": "notes", "record": null, "schema": "public", "operation": "DELETE", "old_record": {"id": 1, "body": "b"}}`,
	} {
		b := receive()
		var payload, wanted map[string]any
		if err := errors.Join(json.Unmarshal(b.Payload, &payload), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		delete(payload, "id")
		if diff := cmp.Diff(wanted, payload); diff != "" || b.Topic != "topic:1" || b.Event != wanted["operation"] {
			t.Error(b.Topic, b.Event, diff)
		}
	}
}

// TestServersThatCannotReplicate checks the errors that tell an operator what to change.
func TestServersThatCannotReplicate(t *testing.T) {
	err := explain(&pgconn.PgError{Code: "55000", Message: `logical decoding requires "wal_level" >= "logical"`})
	if want := `logical decoding requires "wal_level" >= "logical"`; !errors.Is(err, errWALLevel) || ClientText(err) != want {
		t.Errorf("%v, for the client %q", err, ClientText(err))
	}
	d := testdb.New(t)
	s := openOn(t, d, func(o *Options) { o.ReplicationURL = d.URL("authenticator") })
	d.Exec(notes)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	_, err = s.Subscribe(ctx, Subscriber{Role: "service_role", Claims: service,
		Bindings: []Binding{{Schema: "public", Table: "notes", Event: "*"}}, Deliver: func(Change) {}})
	if !errors.Is(err, errNotReplicator) || !errors.Is(s.Ready(), errNotReplicator) {
		t.Errorf("%v, %v", err, s.Ready())
	}
}

// TestOpenTransaction: a transaction that is open delays the slot. The state says so.
func TestOpenTransaction(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	conn := d.Conn("postgres")
	if _, err := conn.Exec(t.Context(), `begin; insert into notes values (1)`); err != nil {
		t.Fatal(err)
	}
	release := s.Hold()
	defer release()
	eventually(t, "the reason", func() bool { return errors.Is(s.Ready(), errOpenTransactions) })
	if ClientText(s.Ready()) == "" {
		t.Error("no text for the client")
	}
	if _, err := conn.Exec(t.Context(), `commit`); err != nil {
		t.Fatal(err)
	}
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes values (2)`)
	eventually(t, "the change", func() bool { return len(box.take()) == 1 })
}

// TestPublicationAppears: a publication that is created while the stream runs is read.
func TestPublicationAppears(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`drop publication supabase_realtime`)
	s := openOn(t, d, nil)
	release := s.Hold()
	defer release()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	var refused *SubscribeError
	d.Exec(`create table notes (id int primary key)`)
	sub := Subscriber{Role: "service_role", Claims: service,
		Bindings: []Binding{{Schema: "public", Table: "notes", Event: "*"}}, Deliver: func(Change) {}}
	if _, err := s.Subscribe(ctx, sub); !errors.As(err, &refused) {
		t.Errorf("without a publication: %v", err)
	}
	d.Exec(`create publication supabase_realtime for table notes`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes values (1)`)
	eventually(t, "the change", func() bool { return len(box.take()) == 1 })
}

// TestMessagesPublicationHeals: the schema was dropped and created again, so the publication lost
// its table.
func TestMessagesPublicationHeals(t *testing.T) {
	d := testdb.New(t)
	d.ExecAs("supabase_admin", `alter publication supabase_realtime_messages_publication drop table realtime.messages`)
	s := openOn(t, d, nil)
	defer s.Hold()()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](d,
		`select count(*) from pg_publication_rel where prrelid = 'realtime.messages'::regclass`); n != 1 {
		t.Errorf("the table is in %d publications", n)
	}
}

// TestAwaitVisible keeps a transaction in the state in which the log has its commit and new
// statements do not see it: the server waits for a standby that does not exist.
func TestAwaitVisible(t *testing.T) {
	d := testdb.New(t)
	pool, err := pool.Open(t.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan Broadcast, 1)
	s.OnBroadcast(func(b Broadcast) { got <- b }, nil)
	run(t, d, s, pool)
	defer s.Hold()()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	d.ExecAs("supabase_admin", `create table realtime.messages_all partition of realtime.messages default`)
	standby := func(name string) {
		d.ExecAs("supabase_admin", `alter system set synchronous_standby_names = '`+name+`'`)
		d.ExecAs("supabase_admin", `select pg_reload_conf()`)
		eventually(t, "the server knows", func() bool {
			return testdb.Value[string](d, `select current_setting('synchronous_standby_names')`) == name
		})
	}
	standby("missing")
	defer standby("")
	committed := make(chan struct{})
	conn := d.Conn("supabase_admin")
	go func() {
		defer close(committed)
		if _, err := conn.Exec(ctx, `set synchronous_commit = on; select realtime.send('{}', 'a', 'notes')`); err != nil {
			t.Error(err)
		}
	}()
	b := <-got
	short, stop := context.WithTimeout(ctx, 200*time.Millisecond)
	defer stop()
	if err := s.AwaitVisible(short, b.XID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the commit is visible: %v", err)
	}
	standby("")
	if err := s.AwaitVisible(ctx, b.XID); err != nil {
		t.Error(err)
	}
	<-committed
}

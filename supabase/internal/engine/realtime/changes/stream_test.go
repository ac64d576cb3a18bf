package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// wait is how long a test waits for what must happen.
const wait = 60 * time.Second

// open returns a database and a running Stream.
func open(t *testing.T, change func(*Options)) (*testdb.DB, *Stream) {
	t.Helper()
	d := testdb.New(t)
	return d, openOn(t, d, change)
}

func openOn(t *testing.T, d *testdb.DB, change func(*Options)) *Stream {
	t.Helper()
	pool, err := pool.Open(t.Context(), pool.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 5})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, d, s, pool)
}

// run runs a Stream until the test ends.
func run(t *testing.T, d *testdb.DB, s *Stream, pool *pool.Pool) *Stream {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		pool.Close()
		// The database cannot be dropped before the server has noticed the end of the connection.
		eventually(t, "the slot is dropped", func() bool { return slots(d) == 0 })
	})
	return s
}

// logText collects what is logged.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was logged.
func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// inbox collects the changes of a subscriber.
type inbox struct {
	mu      sync.Mutex
	changes []Change
}

func (i *inbox) deliver(c Change) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.changes = append(i.changes, c)
}

func (i *inbox) take() []Change {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := i.changes
	i.changes = nil
	return out
}

// subscribe adds a subscriber with a binding per filter.
func subscribe(t *testing.T, s *Stream, role string, claims map[string]any, bindings ...Binding) (*inbox, int64) {
	t.Helper()
	box := &inbox{}
	for i := range bindings {
		if bindings[i].ID == 0 {
			bindings[i].ID = int64(i + 1)
		}
		if bindings[i].Event == "" {
			bindings[i].Event = "*"
		}
		if bindings[i].Schema == "" {
			bindings[i].Schema = "public"
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	id, err := s.Subscribe(ctx, Subscriber{Role: role, Claims: claims, Bindings: bindings, Deliver: box.deliver})
	if err != nil {
		t.Fatal(err)
	}
	return box, id
}

// settle waits until all committed changes are delivered: it changes a table of its own and waits
// for that.
func settle(t *testing.T, d *testdb.DB, s *Stream) {
	t.Helper()
	d.Exec(`create table if not exists fence (id bigint generated always as identity primary key)`)
	d.Exec(`do $$ begin alter publication supabase_realtime add table fence; exception when duplicate_object then null; end $$`)
	got := make(chan struct{}, 100)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	id, err := s.Subscribe(ctx, Subscriber{Role: "service_role", Claims: map[string]any{"role": "service_role"},
		Bindings: []Binding{{Schema: "public", Table: "fence", Event: "*"}},
		Deliver:  func(Change) { got <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Unsubscribe(id)
	d.Exec(`insert into fence default values`)
	select {
	case <-got:
	case <-time.After(wait):
		t.Fatalf("the changes did not arrive: %v", s.Ready())
	}
	eventually(t, "the lanes are empty", func() bool { return s.lanes.waiting() == 0 })
}

// show returns changes in short: type, ids, record, old record and errors.
func show(t *testing.T, changes []Change) (out []string) {
	t.Helper()
	for _, c := range changes {
		var data struct {
			Schema, Table, Type string
			Record              json.RawMessage `json:"record"`
			Old                 json.RawMessage `json:"old_record"`
			Errors              []string        `json:"errors"`
		}
		if err := json.Unmarshal(c.Data, &data); err != nil {
			t.Fatalf("%s: %v", c.Data, err)
		}
		if data.Type != c.Type {
			t.Errorf("type %s, data %s", c.Type, c.Data)
		}
		line := fmt.Sprintf("%s %v", c.Type, c.IDs)
		if data.Record != nil {
			line += " " + string(data.Record)
		}
		if data.Old != nil {
			line += " old " + string(data.Old)
		}
		if data.Errors != nil {
			line += " " + strings.Join(data.Errors, "; ")
		}
		out = append(out, line)
	}
	return out
}

func expect(t *testing.T, box *inbox, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, show(t, box.take())); diff != "" {
		t.Error(diff)
	}
}

var service = map[string]any{"role": "service_role"}

const notes = `create table notes (id bigint primary key, body text, done boolean default false, owner uuid);
	alter publication supabase_realtime add table notes;`

func TestChangesOfATable(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	all, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	inserts, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Event: "INSERT"},
		Binding{Table: "notes", Event: "DELETE"})
	d.Exec(`insert into notes values (1, 'a "quoted" <b>', null)`)
	d.Exec(`update notes set body = 'b', done = true`)
	d.Exec(`update notes set id = 2`)
	d.Exec(`delete from notes`)
	d.Exec(`truncate notes`)
	settle(t, d, s)
	expect(t, all,
		`INSERT [1] {"id":1,"body":"a \"quoted\" <b>","done":null,"owner":null}`,
		`UPDATE [1] {"id":1,"body":"b","done":true,"owner":null} old {"id":1}`,
		`UPDATE [1] {"id":2,"body":"b","done":true,"owner":null} old {"id":1}`,
		`DELETE [1] old {"id":2}`)
	expect(t, inserts, `INSERT [1] {"id":1,"body":"a \"quoted\" <b>","done":null,"owner":null}`,
		`DELETE [2] old {"id":2}`)
}

func TestDataHasUpstreamsShape(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	changes := box.take()
	if len(changes) != 1 {
		t.Fatal(changes)
	}
	var data map[string]any
	if err := json.Unmarshal(changes[0].Data, &data); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse("2006-01-02T15:04:05.000Z", data["commit_timestamp"].(string))
	if err != nil || time.Since(at) > time.Hour || time.Until(at) > time.Minute {
		t.Errorf("commit_timestamp %v: %v", data["commit_timestamp"], err)
	}
	delete(data, "commit_timestamp")
	want := map[string]any{
		"schema": "public", "table": "notes", "type": "INSERT", "errors": nil,
		"columns": []any{
			map[string]any{"name": "id", "type": "int8"}, map[string]any{"name": "body", "type": "text"},
			map[string]any{"name": "done", "type": "bool"}, map[string]any{"name": "owner", "type": "uuid"},
		},
		"record": map[string]any{"id": 1.0, "body": nil, "done": false, "owner": nil},
	}
	if diff := cmp.Diff(want, data); diff != "" {
		t.Error(diff)
	}
}

func TestReplicaIdentity(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create table d (id int primary key, code text not null, body text);
		create unique index d_code on d (code);
		alter publication supabase_realtime add table d;`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "d"})
	for _, identity := range []string{"default", "full", "using index d_code"} {
		d.Exec(`alter table d replica identity ` + identity)
		d.Exec(`insert into d values (1, 'x', null)`)
		d.Exec(`update d set body = 'b'`)
		d.Exec(`update d set code = 'y', id = 2`)
		d.Exec(`delete from d`)
		settle(t, d, s)
		insert, update, key := `INSERT [1] {"id":1,"code":"x","body":null}`,
			`UPDATE [1] {"id":1,"code":"x","body":"b"} `, `UPDATE [1] {"id":2,"code":"y","body":"b"} `
		switch identity {
		case "default":
			expect(t, box, insert, update+`old {"id":1}`, key+`old {"id":1}`, `DELETE [1] old {"id":2}`)
		case "full":
			expect(t, box, insert, update+`old {"id":1,"code":"x","body":null}`, key+
				`old {"id":1,"code":"x","body":"b"}`, `DELETE [1] old {"id":2,"code":"y","body":"b"}`)
		default:
			expect(t, box, insert, update+`old {"code":"x"}`, key+`old {"code":"x"}`, `DELETE [1] old {"code":"y"}`)
		}
	}
	// Without an identity Postgres refuses the statements that would not be decodable.
	d.Exec(`alter table d replica identity nothing`)
	d.Exec(`insert into d values (3, 'z', null)`)
	if _, err := d.Conn("postgres").Exec(t.Context(), `delete from d`); err == nil {
		t.Error("a delete without a replica identity was accepted")
	}
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":3,"code":"z","body":null}`)
}

// TestUnchangedToast: a large value that an update does not change is not in the log. It is missing
// in the record, unless the replica identity is full.
func TestUnchangedToast(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create table docs (id int primary key, n int, body text);
		alter table docs alter body set storage external;
		alter publication supabase_realtime add table docs;
		insert into docs values (1, 0, repeat('x', 5000));`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "docs"})
	filtered, _ := subscribe(t, s, "service_role", service, Binding{Table: "docs", Filter: "body=like.xxx%"})
	d.Exec(`update docs set n = 1`)
	settle(t, d, s)
	expect(t, box, `UPDATE [1] {"id":1,"n":1} old {"id":1}`)
	expect(t, filtered)
	d.Exec(`alter table docs replica identity full`)
	d.Exec(`update docs set n = 2`)
	settle(t, d, s)
	x := strings.Repeat("x", 5000)
	want := `UPDATE [1] {"id":1,"n":2,"body":"` + x + `"} old {"id":1,"n":1,"body":"` + x + `"}`
	expect(t, box, want)
	expect(t, filtered, want)
}

func TestSchemaChanges(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Filter: "id=gt.0"})
	all, _ := subscribe(t, s, "service_role", service, Binding{Table: "*"})
	body, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Filter: "body=eq.a"})
	d.Exec(`alter table notes drop column owner, drop column done, add column n numeric default 1.50`)
	d.Exec(`insert into notes values (1, 'a')`)
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":1,"body":"a","n":1.50}`)
	expect(t, body, `INSERT [1] {"id":1,"body":"a","n":1.50}`)
	d.Exec(`alter table notes alter id type numeric, alter body type varchar(10)`)
	d.Exec(`update notes set n = 2`)
	settle(t, d, s)
	expect(t, box, `UPDATE [1] {"id":1,"body":"a","n":2} old {"id":1}`)
	expect(t, body, `UPDATE [1] {"id":1,"body":"a","n":2} old {"id":1}`)
	// The filtered column is gone.
	d.Exec(`alter table notes drop column body`)
	d.Exec(`update notes set n = 3`)
	settle(t, d, s)
	expect(t, box, `UPDATE [1] {"id":1,"n":3} old {"id":1}`)
	expect(t, body)
	// A column of another name, and one that is added and dropped between the change and its check.
	d.Exec(`alter table notes rename n to m; update notes set m = 4; alter table notes drop column m, add column k int;`)
	settle(t, d, s)
	expect(t, box, `UPDATE [1] {"id":1} old {"id":1}`)
	all.take()
	// New tables of the publication.
	d.Exec(`create table todos (id int primary key); alter publication supabase_realtime add table todos; insert into todos values (7)`)
	d.Exec(`drop table notes; create table notes (id text primary key); alter publication supabase_realtime add table notes; insert into notes values ('1'), ('0')`)
	settle(t, d, s)
	ofFence := func(c Change) bool { return strings.Contains(string(c.Data), `"table":"fence"`) }
	got := show(t, slices.DeleteFunc(all.take(), ofFence))
	if diff := cmp.Diff([]string{`INSERT [1] {"id":7}`, `INSERT [1] {"id":"1"}`, `INSERT [1] {"id":"0"}`},
		got); diff != "" {
		t.Error(diff)
	}
	expect(t, box, `INSERT [1] {"id":"1"}`)
	// A table that leaves the publication.
	d.Exec(`alter publication supabase_realtime drop table notes; insert into notes values ('5')`)
	settle(t, d, s)
	expect(t, box)
}

// TestRenamedTable: a subscription follows its table to another name and schema, also when the
// claims change.
func TestRenamedTable(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `create schema archive; grant usage on schema archive to authenticated`)
	box, id := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes", Filter: "done=is.true"})
	d.Exec(`alter table notes rename to papers; insert into papers values (1, null, true), (2, null, false)`)
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":1,"body":null,"done":true,"owner":null}`)
	if err := s.SetClaims(t.Context(), id, "authenticated", user(bob)); err != nil {
		t.Fatal(err)
	}
	d.Exec(`alter table papers set schema archive; insert into archive.papers values (3, null, true)`)
	settle(t, d, s)
	expect(t, box, `INSERT [1] {"id":3,"body":null,"done":true,"owner":null}`)
	// A new table of the old name.
	d.Exec(notes + `insert into notes values (4, null, true); insert into archive.papers values (5, null, true)`)
	if err := s.SetClaims(t.Context(), id, "authenticated", user(alice)); err != nil {
		t.Fatal(err)
	}
	d.Exec(`insert into notes values (6, null, true); insert into archive.papers values (7, null, true)`)
	settle(t, d, s)
	if got := show(t, box.take()); len(got) != 4 {
		t.Error(got)
	}
}

package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/testdb"
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
	pool, err := db.Open(t.Context(), db.Config{URL: d.URL("supabase_realtime_admin"), MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Pool: pool, ReplicationURL: d.URL("supabase_realtime_admin"), Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&o)
	}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, s, pool)
}

func run(t *testing.T, s *Stream, pool *db.Pool) *Stream {
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
	})
	return s
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

// settle waits until all committed changes are delivered: it changes a table of its own and waits for that.
func settle(t *testing.T, d *testdb.DB, s *Stream) {
	t.Helper()
	d.Exec(`create table if not exists fence (id bigint generated always as identity primary key)`)
	d.Exec(`do $$ begin alter publication supabase_realtime add table fence; exception when duplicate_object then null; end $$`)
	got := make(chan struct{}, 100)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	id, err := s.Subscribe(ctx, Subscriber{Role: "service_role", Claims: map[string]any{"role": "service_role"}, Bindings: []Binding{{Schema: "public", Table: "fence", Event: "*"}}, Deliver: func(Change) { got <- struct{}{} }})
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
	inserts, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Event: "INSERT"}, Binding{Table: "notes", Event: "DELETE"})
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
	expect(t, inserts, `INSERT [1] {"id":1,"body":"a \"quoted\" <b>","done":null,"owner":null}`, `DELETE [2] old {"id":2}`)
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

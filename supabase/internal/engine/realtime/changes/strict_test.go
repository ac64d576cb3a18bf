package changes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
)

// paused makes changes while the stream delivers another one, so that all of them are committed
// before the first is checked.
func paused(t *testing.T, d *testdb.DB, s *Stream, change func()) {
	t.Helper()
	d.Exec(`drop table if exists gate; create table gate (id int primary key);
		alter publication supabase_realtime add table gate`)
	entered, leave := make(chan struct{}), make(chan struct{})
	id, err := s.Subscribe(t.Context(), Subscriber{Role: "service_role", Claims: service,
		Bindings: []Binding{{Schema: "public", Table: "gate", Event: "*"}},
		Deliver:  func(Change) { close(entered); <-leave }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Unsubscribe(id)
	defer close(leave)
	d.Exec(`insert into gate values (1)`)
	<-entered
	change()
}

const ownNotes = notes + `
	alter table notes enable row level security;
	create policy own on notes for select to authenticated using (owner = auth.uid());
	alter table notes replica identity full;`

// TestHiddenImages changes rows before their first version is checked.
func TestHiddenImages(t *testing.T) {
	cases := []struct {
		name, sql     string
		strict, loose []string
	}{
		{"secret of another user", `insert into notes (id, body, owner) values (1, 'secret', '` + bob + `');
			commit; update notes set owner = '` + alice + `', body = 'open' where id = 1`,
			[]string{`UPDATE [1] {"id":1,"body":"open","done":false,"owner":"` + alice + `"} old {"id":1}`},
			[]string{`INSERT [1] {"id":1,"body":"secret","done":false,"owner":"` + bob + `"}`,
				`UPDATE [1] {"id":1,"body":"open","done":false,"owner":"` + alice + `"} ` +
					`old {"id":1,"body":"secret","done":false,"owner":"` + bob + `"}`}},
		{"in one transaction", `begin; insert into notes (id, body, owner) values (1, 'secret', '` + bob + `');
			update notes set owner = '` + alice + `', body = null where id = 1; commit`,
			[]string{`UPDATE [1] {"id":1,"body":null,"done":false,"owner":"` + alice + `"} old {"id":1}`},
			[]string{`INSERT [1] {"id":1,"body":"secret","done":false,"owner":"` + bob + `"}`,
				`UPDATE [1] {"id":1,"body":null,"done":false,"owner":"` + alice + `"} ` +
					`old {"id":1,"body":"secret","done":false,"owner":"` + bob + `"}`}},
		{"hidden now", `insert into notes (id, body, owner) values (1, 'mistake', '` + alice + `');
			commit; update notes set owner = '` + bob + `' where id = 1`, nil, nil},
		{"all versions visible", `insert into notes (id, body, owner) values (1, 'a', '` + alice + `');
			commit; update notes set body = 'b' where id = 1; commit; update notes set body = 'c' where id = 1`,
			[]string{`INSERT [1] {"id":1,"body":"a","done":false,"owner":"` + alice + `"}`,
				`UPDATE [1] {"id":1,"body":"b","done":false,"owner":"` + alice + `"} ` +
					`old {"id":1,"body":"a","done":false,"owner":"` + alice + `"}`,
				`UPDATE [1] {"id":1,"body":"c","done":false,"owner":"` + alice + `"} ` +
					`old {"id":1,"body":"b","done":false,"owner":"` + alice + `"}`}, nil},
		{"in a subtransaction", `begin; savepoint a; insert into notes (id, owner) values (1, '` + alice + `'); release a; commit`,
			[]string{`INSERT [1] {"id":1,"body":null,"done":false,"owner":"` + alice + `"}`}, nil},
		{"deleted", `insert into notes (id, owner) values (1, '` + alice + `'), (2, '` + bob + `'); commit; delete from notes`,
			[]string{`DELETE [1] old {"id":1}`}, []string{`DELETE [1] old {"id":1}`, `DELETE [1] old {"id":2}`}},
	}
	for _, lenient := range []bool{false, true} {
		d, s := open(t, func(o *Options) { o.Lenient = lenient })
		d.Exec(ownNotes)
		conn := d.Conn("postgres")
		box, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
		for _, c := range cases {
			d.Exec(`truncate notes`)
			paused(t, d, s, func() {
				for _, sql := range strings.Split(c.sql, "commit;") {
					if _, err := conn.Exec(t.Context(), sql); err != nil {
						t.Error(err)
					}
				}
			})
			settle(t, d, s)
			want := c.strict
			if lenient && c.loose != nil {
				want = c.loose
			}
			if diff := cmp.Diff(want, show(t, box.take())); diff != "" {
				t.Errorf("%s, lenient %v: %s", c.name, lenient, diff)
			}
		}
	}
}

// TestDeletedRows checks which users learn the key of a deleted row.
func TestDeletedRows(t *testing.T) {
	d, s := open(t, nil)
	for _, c := range []struct{ name, policy, identity, who string }{
		{"by the old row", `owner = auth.uid()`, `full`, "alice"},
		{"by a subquery", `owner in (select auth.uid())`, `full`, "alice"},
		{"by the key", `id = (auth.jwt() ->> 'note')::int`, `default`, "alice"},
		{"by the claims", `auth.uid() = '` + alice + `'`, `default`, "alice"},
		{"every user", `true`, `default`, "alice bob"},
		{"unknown", `owner = auth.uid()`, `default`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Exec(`drop table if exists notes;` + notes + `alter table notes enable row level security;
				alter table notes replica identity ` + c.identity + `;
				create policy seen on notes for select to authenticated using (` + c.policy + `);
				insert into notes (id, owner, body) values (1, '` + alice + `', 'a')`)
			boxes := map[string]*inbox{}
			add := func(name, role string, claims map[string]any, filter string) {
				box, id := subscribe(t, s, role, claims, Binding{Table: "notes", Filter: filter})
				t.Cleanup(func() { s.Unsubscribe(id) })
				boxes[name] = box
			}
			for name, id := range map[string]string{"alice": alice, "bob": bob} {
				claims := user(id)
				claims["note"] = map[string]string{"alice": "1", "bob": "2"}[name]
				add(name, "authenticated", claims, "")
				add(name+" with a filter", "authenticated", claims, "body=eq.a")
			}
			add("service", "service_role", service, "")
			d.Exec(`delete from notes`)
			settle(t, d, s)
			var got []string
			for name, box := range boxes { // the INSERT before may arrive, too
				if slices.ContainsFunc(box.take(), func(c Change) bool { return c.Type == "DELETE" }) {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			var want []string
			for _, name := range []string{"alice", "bob"} {
				if !slices.Contains(strings.Fields(c.who), name) {
					continue
				}
				if want = append(want, name); c.identity == "full" { // otherwise the log has no body to compare
					want = append(want, name+" with a filter")
				}
			}
			if diff := cmp.Diff(append(want, "service"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPoliciesThatChangeDuringTheCheck: what the text of a policy allowed does not count if the
// policy changed before the end of the check.
func TestPoliciesThatChangeDuringTheCheck(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(ownNotes)
	subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	d.Exec(`insert into notes (id, owner) values (1, $1)`, alice)
	d.Exec(`update notes set body = 'b'`)
	d.Exec(`delete from notes`)
	settle(t, d, s)
	for _, item := range s.ring.items[:3] {
		b := &batch{s: s, items: []rowChange{item}}
		b.matchBindings()
		if err := b.loadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.evaluateFilters()
		d.Exec(`alter policy own on notes using (owner = auth.uid() and body is null)`)
		err := b.checkPolicies(t.Context())
		if changed := errors.Is(err, errPoliciesChanged); changed != (item.kind == kindDelete) {
			t.Errorf("%s: %v", item.kind, err)
		}
		d.Exec(`alter policy own on notes using (owner = auth.uid())`)
	}
}
